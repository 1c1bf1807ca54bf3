import { randomUUID } from 'node:crypto';
import { nkeys } from '@nats-io/nats-core';

type KeyPair = ReturnType<typeof nkeys.createUser>;

const UNLIMITED = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const JETSTREAM = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

/** Creates an operator with an account, like `nsc` (docs.nats.io, "JWT"): server configuration and credentials files. */
export function createNatsOperator(): { config: string; credentials(options?: { ofAnother?: boolean; expires?: number }): string } {
  const [operator, account, system, other] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount(), nkeys.createAccount()];
  const accountOf = (pair: KeyPair, limits: object): string =>
    signJwt(operator, pair, 'account', { limits: { ...UNLIMITED, ...limits }, default_permissions: { pub: {}, sub: {} } });
  return {
    config: `operator: ${signJwt(operator, operator, 'operator', { system_account: system.getPublicKey() })}
resolver: MEMORY
resolver_preload {
  ${account.getPublicKey()}: ${accountOf(account, JETSTREAM)}
  ${system.getPublicKey()}: ${accountOf(system, {})}
}`,
    credentials({ ofAnother = false, expires } = {}) {
      const user = nkeys.createUser();
      const claims = { pub: {}, sub: {}, subs: -1, data: -1, payload: -1 };
      const jwt = signJwt(ofAnother ? other : account, user, 'user', claims, expires);
      const seed = Buffer.from(user.getSeed()).toString();
      return `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;
    },
  };
}

function signJwt(issuer: KeyPair, subject: KeyPair, type: string, nats: object, exp?: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000) - 60,
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: type,
    ...(exp !== undefined && { exp }),
    nats: { ...nats, type, version: 2 },
  };
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}
