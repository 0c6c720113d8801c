# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

"""A mechanism of Neutron that binds every port on every host: there are no networks below these."""

from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api


class Everywhere(api.MechanismDriver):
    def initialize(self):
        pass

    def bind_port(self, context):
        segment = context.segments_to_bind[0][api.ID]
        details = {portbindings.CAP_PORT_FILTER: True}
        context.set_binding(segment, portbindings.VIF_TYPE_OVS, details, status='ACTIVE')
