import type { IncomingMessage } from 'node:http';
import type { AdmittedClient, Denial } from './auth.ts';
import { getCallbackVault } from './oauth-callback.ts';
import type { Vault } from './serve-vault.ts';

/** Parts of a request that identify its vault, besides the credential. */
type VaultAddress = Pick<IncomingMessage, 'headers' | 'url'>;

/** Vaults that a request may be for. */
export type VaultCandidates = readonly [Vault, ...Vault[]];

const NAMED_HOST = /^([a-z0-9-]+)\.localhost(?::\d+)?$/i;

/**
 * The vaults of a bridge, and the vault that a request is for (docs/decisions/0076). Each has its own origin for its pages and its host.
 * Other requests go to the vault that accepts their credential; if none does, the first one rejects them, as if it were the only vault.
 */
export class VaultRegistry {
  readonly first: Vault;
  readonly all: readonly Vault[];
  readonly #byName: ReadonlyMap<string, Vault>;

  constructor(first: Vault, others: readonly Vault[]) {
    this.first = first;
    this.all = [first, ...others];
    this.#byName = new Map(others.map((vault) => [vault.name, vault]));
  }

  /** Returns the vault whose origin was requested. Its admission applies, and only its pages and host are served there. */
  byHost({ headers }: Pick<VaultAddress, 'headers'>): Vault {
    const name = NAMED_HOST.exec(headers.host ?? '')?.[1];
    return (name !== undefined && this.#byName.get(name.toLowerCase())) || this.first;
  }

  /**
   * Returns the vaults that a request may be for: one if the URL names it (`work.localhost`, `?vault=work`), else all. Undefined if there
   * is none with that name.
   */
  getCandidates(request: VaultAddress): VaultCandidates | undefined {
    const doorVault = this.byHost(request);
    const requestedName = getRequestedName(request.url);
    if (requestedName === undefined) return doorVault === this.first ? [this.first, ...this.all.slice(1)] : [doorVault];
    const namedVault = this.#byName.get(requestedName);
    return namedVault && (doorVault === namedVault || doorVault === this.first) ? [namedVault] : undefined;
  }

  /** Finds the vault of a request by its bearer token. */
  byToken(request: VaultAddress, token: string | undefined): Vault {
    const candidates = this.getCandidates(request) ?? [this.first];
    return (token !== undefined && findByToken(candidates, token)) || candidates[0];
  }

  /** Finds the vault of a request that returns from an OAuth service; undefined for other requests. */
  byCallback(request: VaultAddress): Vault | undefined {
    const name = getCallbackVault(request.url);
    return name === '' ? this.byHost(request) : name === undefined ? undefined : this.#byName.get(name);
  }

  /** Authenticates a client by its `connect`, against the challenge of its connection. */
  async admit(
    { candidates, bearer, origin }: { candidates: VaultCandidates; bearer: string | undefined; origin: string | undefined },
    auth: unknown,
    nonce: string,
  ): Promise<{ vault: Vault; verdict: AdmittedClient } | { vault?: undefined; verdict: Denial }> {
    const vault = await this.#byConnect(candidates, auth, bearer);
    if (!vault) return { verdict: AMBIGUOUS_VAULT };
    const verdict = await vault.auth.checkConnect(auth, bearer, nonce, origin);
    return verdict.ok ? { vault, verdict } : { verdict };
  }

  /**
   * Finds the vault for a `connect`. A password does not identify a vault and is tried on one only: undefined if several vaults have one.
   */
  async #byConnect(candidates: VaultCandidates, auth: unknown, bearer: string | undefined): Promise<Vault | undefined> {
    if (candidates.length === 1) return candidates[0];
    const { credentialId, token, deviceToken, password }: Record<string, unknown> =
      typeof auth === 'object' && auth !== null ? { ...auth } : {};
    if (typeof credentialId === 'string') return candidates.find((vault) => vault.auth.hasApp(credentialId)) ?? candidates[0];
    for (const each of [token, deviceToken, bearer]) {
      const found = typeof each === 'string' && findByToken(candidates, each);
      if (found) return found;
    }
    if (typeof password !== 'string') return candidates[0];
    const states = await Promise.all(candidates.map(async (vault) => ({ vault, isSet: await vault.auth.hasPassword() })));
    const [only, another] = states.filter(({ isSet }) => isSet);
    return another ? undefined : (only?.vault ?? candidates[0]);
  }
}

const AMBIGUOUS_VAULT: Denial = {
  ok: false,
  code: 'AUTH_REQUIRED',
  message: 'Several vaults have a password. Name yours in the address (/ws?vault=…).',
};

/** Returns the first vault that accepts a token. Always checks all vaults. */
function findByToken(candidates: readonly Vault[], token: string): Vault | undefined {
  return candidates.filter((vault) => vault.auth.isKnownToken(token))[0];
}

/** Returns the vault name in a URL's `?vault=`. */
function getRequestedName(url = ''): string | undefined {
  const at = url.indexOf('?');
  return at < 0 ? undefined : (new URLSearchParams(url.slice(at)).get('vault') ?? undefined);
}
