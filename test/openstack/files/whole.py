# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

"""All of Nova in one process, which needs no message broker then: whole.py NOVA.CONF READY

The file READY is written when servers can be created.
"""

import nova.cmd  # noqa: F401, first of all: it replaces what blocks

import sys

import eventlet
from oslo_log import log as logging

import nova.conf
from nova import config
from nova import context
from nova import objects
from nova import service
from nova.compute import rpcapi as compute_rpcapi
from nova.conductor import rpcapi as conductor_rpcapi
from nova.objects import host_mapping
from nova.scheduler import rpcapi as scheduler_rpcapi

settings, ready = sys.argv[1:]
config.parse_args(['nova', '--config-file', settings])
logging.setup(nova.conf.CONF, 'nova')
objects.register_all()

running = []
for binary, topic in (
    ('nova-conductor', conductor_rpcapi.RPC_TOPIC),
    ('nova-scheduler', scheduler_rpcapi.RPC_TOPIC),
    ('nova-compute', compute_rpcapi.RPC_TOPIC),
):
    part = service.Service.create(binary=binary, topic=topic)
    part.start()
    running.append(part)

# The hypervisor has registered itself by now; the cell that it is in is taken down by this only.
while not objects.ComputeNodeList.get_all(context.get_admin_context()):
    eventlet.sleep(0.1)
host_mapping.discover_hosts(context.get_admin_context())

api = service.WSGIService('osapi_compute')
api.start()
running.append(api)
with open(ready, 'w') as file:
    file.write('ready\n')
api.wait()
