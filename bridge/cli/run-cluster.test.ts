import { expect, test } from 'vitest';
import { getClusterSettings } from './run-cluster.ts';

const STORED_SETTINGS = { servers: ['nats://kept:4222'], user: 'perch', password: '${NATS}' };

test('the cluster is where the command says, else where `perch sync nats` said', () => {
  expect(getClusterSettings({ cluster: true }, STORED_SETTINGS, {})).toEqual(STORED_SETTINGS);
  expect(getClusterSettings({ cluster: 'nats://a:1, tls://b:2' }, STORED_SETTINGS, {})).toEqual({ servers: ['nats://a:1', 'tls://b:2'] });
  expect(
    getClusterSettings({ cluster: 'nats://a:1', clusterUser: 'u', clusterCa: '/ca.pem' }, undefined, { PERCH_CLUSTER_PASSWORD: 'p' }),
  ).toEqual({
    servers: ['nats://a:1'],
    user: 'u',
    password: 'p',
    tls: { ca: '/ca.pem' },
  });
  expect(getClusterSettings({ cluster: 'nats://a:1' }, undefined, { PERCH_CLUSTER_TOKEN: 't' })).toEqual({
    servers: ['nats://a:1'],
    token: 't',
  });
});

test('reports unusable options in a sentence', () => {
  const describe = (...describe: Parameters<typeof getClusterSettings>): string => {
    try {
      return JSON.stringify(getClusterSettings(...describe));
    } catch (error) {
      return String(error);
    }
  };
  expect(describe({ cluster: true }, undefined, {})).toContain('--cluster requires servers');
  expect(describe({ cluster: 'http://a' }, undefined, {})).toMatch(/--cluster: .*nats:\/\/host:port/);
  expect(describe({ cluster: 'nats://a', clusterUser: 'u' }, undefined, {})).toContain('The user and password must be used together');
  expect(describe({ cluster: 'nats://a', clusterCert: '/c.pem' }, undefined, {})).toContain(
    'The certificate and its key must be used together',
  );
});
