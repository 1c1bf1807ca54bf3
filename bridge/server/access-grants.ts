import { hash as digest, timingSafeEqual } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { accessPort, type AccessGrant, accessGrant } from '#shared/ports/access-port.ts';
import { joinScopes, type Scope } from '#shared/rpc/scopes.ts';
import { z } from '#shared/rpc/zod.ts';
import { warnIfExposed, readFileIfExists, describeError, writeFileAtomically } from '../home-directory.ts';
import type { PortHandlers } from '../capabilities/serve-port.ts';

const accessFile = z.object({ version: z.literal(1), grants: z.array(accessGrant) });

/** Access that a token grants. */
export interface GrantedAccess {
  principal: string;
  scopes: readonly Scope[];
  /**
   * Registers an open connection of the principal: `close` is called when the grant ends, immediately if it has ended. The result
   * unregisters it.
   */
  hold(close: () => void): () => void;
}

interface GrantEntry {
  grant: AccessGrant;
  hash: Buffer;
  open: Set<() => void>;
  expired: boolean;
}

/**
 * The bridge's copy of the vault's access grants, in memory and in a file of mode 0600, with hashes of the tokens only. It lets a restarted
 * bridge authenticate clients before a host is attached.
 */
export class AccessGrants {
  readonly #file: string;
  readonly #log: (line: string) => void;
  #entries = new Map<string, GrantEntry>();
  /** Principals revoked while this bridge runs. Ids are never reused, so these stay revoked. */
  readonly #revoked = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  readonly #watchers = new Set<(grants: AccessGrant[]) => void>();

  private constructor(file: string, log: (line: string) => void) {
    this.#file = file;
    this.#log = log;
  }

  /** Reads the file. A damaged one is ignored: the next mirror recreates it. */
  static async open(file: string, log: (line: string) => void): Promise<AccessGrants> {
    const access = new AccessGrants(file, log);
    const text = await readFileIfExists(file);
    if (text === undefined) return access;
    await warnIfExposed(file, 0o600, log);
    try {
      access.#set(accessFile.parse(JSON.parse(text)).grants);
    } catch {
      log(`${file} is damaged. Paired devices can connect once a host is attached`);
    }
    return access;
  }

  /** Finds a token's grant. Compares with every grant, each in constant time. */
  find(token: string): GrantedAccess | undefined {
    const hash = digest('sha256', token, 'buffer');
    let found: GrantEntry | undefined;
    for (const entry of this.#entries.values()) if (timingSafeEqual(entry.hash, hash)) found = entry;
    return found && toGrantedAccess(found);
  }

  /** Principals with an open connection. */
  connected(): string[] {
    return [...this.#entries.values()].flatMap(({ grant: { principal }, open }) => (open.size > 0 ? principal : []));
  }

  /** Calls `watcher` with all grants, now and on every change. The result stops it. */
  watch(watcher: (grants: AccessGrant[]) => void): () => void {
    this.#watchers.add(watcher);
    watcher(this.#grants());
    return () => void this.#watchers.delete(watcher);
  }

  /** Replaces all grants. Resolves once that is on disk, or its failure is logged. */
  mirror(grants: readonly AccessGrant[]): Promise<void> {
    this.#set(grants.filter(({ principal }) => !this.#revoked.has(principal)));
    return this.#write();
  }

  revoke(principal: string): Promise<void> {
    this.#revoked.add(principal);
    return this.mirror(this.#grants());
  }

  /** Resolves when no write is pending. */
  idle(): Promise<void> {
    return this.#writing;
  }

  #grants(): AccessGrant[] {
    return [...this.#entries.values()].map((entry) => entry.grant);
  }

  #set(grants: readonly AccessGrant[]): void {
    const before = this.#entries;
    this.#entries = new Map(
      grants.map((grant) => {
        const current = before.get(grant.principal);
        if (current && isSameGrant(current.grant, grant)) return [grant.principal, current];
        return [grant.principal, { grant, hash: Buffer.from(grant.tokenHash, 'hex'), open: new Set(), expired: false }];
      }),
    );
    for (const [principal, entry] of before) {
      if (this.#entries.get(principal) === entry) continue;
      entry.expired = true;
      for (const close of [...entry.open]) close();
    }
    for (const watcher of this.#watchers) watcher(this.#grants());
  }

  /** Serializes writes. If a write fails, revoked principals still get no access. */
  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const grants = this.#grants();
      try {
        await writeFileAtomically(this.#file, `${JSON.stringify({ version: 1, grants }, null, 2)}\n`, rename);
      } catch (error) {
        this.#log(`Couldn’t write ${this.#file}: ${describeError(error)}`);
        await rm(this.#file, { force: true }).catch(() => {});
      }
    });
    return this.#writing;
  }
}

/** Port handlers for one host. `serves` tells whether it is the active one. */
export const createAccessHandlers = (
  access: AccessGrants,
  serves: () => boolean,
): PortHandlers<(typeof accessPort)['calls'], (typeof accessPort)['events']> => ({
  'access.mirror': async ({ grants }) => {
    const taken = serves();
    if (taken) await access.mirror(grants);
    return { taken };
  },
  'access.revoke': async ({ principal }) => {
    await access.revoke(principal);
    return {};
  },
  'access.connected': async () => ({ principals: access.connected() }),
});

const toGrantedAccess = (entry: GrantEntry): GrantedAccess => ({
  principal: entry.grant.principal,
  scopes: joinScopes(entry.grant),
  hold(close) {
    if (entry.expired) close();
    else entry.open.add(close);
    return () => void entry.open.delete(close);
  },
});

const isSameGrant = (a: AccessGrant, b: AccessGrant): boolean => a.tokenHash === b.tokenHash && formatScopes(a) === formatScopes(b);

const formatScopes = (entry: AccessGrant): string => joinScopes(entry).sort().join();
