# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tells copied databases where they are, and Keystone where the services are: place.py FOLDER TYPE=REGION=URL..."""

import glob
import sqlite3
import sys

folder, *services = sys.argv[1:]

for name in glob.glob(folder + '/*.db'):
    with sqlite3.connect(name) as database:
        database.execute('PRAGMA journal_mode = WAL')  # readers do not wait for a writer

with sqlite3.connect(folder + '/nova_api.db') as cells:
    for cell in ('cell0', 'cell1'):
        cells.execute(
            'UPDATE cell_mappings SET database_connection = ? WHERE name = ?',
            ('sqlite:///%s/nova_%s.db?timeout=60' % (folder, cell), cell))

with sqlite3.connect(folder + '/keystone.db') as keystone:
    keystone.execute('DELETE FROM endpoint')
    keystone.execute('DELETE FROM service')
    for kind, region, url in (s.split('=', 2) for s in services):
        keystone.execute('INSERT OR IGNORE INTO service (id, type, enabled, extra) VALUES (?, ?, 1, ?)',
                         (kind, kind, '{"name": "%s"}' % kind))
        keystone.execute("INSERT OR IGNORE INTO region (id, description, extra) VALUES (?, '', '{}')", (region,))
        for interface in ('public', 'internal', 'admin'):
            keystone.execute(
                'INSERT INTO endpoint (id, interface, service_id, url, extra, enabled, region_id) '
                "VALUES (?, ?, ?, ?, '{}', 1, ?)", ('-'.join((kind, region, interface)), interface, kind, url, region))
