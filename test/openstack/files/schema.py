# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

"""Creates the tables of Neutron, whose migrations do not run on SQLite: schema.py DATABASE"""

import sys

import sqlalchemy
from neutron.db.migration.models import head  # noqa: F401, this knows all tables
from neutron_lib.db import model_base

model_base.BASEV2.metadata.create_all(sqlalchemy.create_engine('sqlite:///' + sys.argv[1]))
