import type { IncomingMessage } from 'node:http';
import type { Admitted, Denial } from './auth.ts';
import { callbackVault } from './oauth-callback.ts';
import type { Vault } from './vault.ts';

/** What of a request says which vault it is for, beside its credential. */
export type Addressed = Pick<IncomingMessage, 'headers' | 'url'>;

/** The vaults that a request may be for. */
export type Candidates = readonly [Vault, ...Vault[]];

const NAMED_HOST = /^([a-z0-9-]+)\.localhost(?::\d+)?$/i;

/**
 * The vaults of a bridge, and which of them a request is for (docs/decisions/0076). Each has an origin of its own for its pages and its host; what else comes is for the vault that knows
 * its credential, and a credential that none knows is refused by the first one, as if that were alone.
 */
export class Vaults {
  readonly first: Vault;
  readonly all: readonly Vault[];
  readonly #byName: ReadonlyMap<string, Vault>;

  constructor(first: Vault, others: readonly Vault[]) {
    this.first = first;
    this.all = [first, ...others];
    this.#byName = new Map(others.map((vault) => [vault.name, vault]));
  }

  /** Whose origin was asked: its admission decides, and its pages and its host alone are served there. */
  door({ headers }: Pick<Addressed, 'headers'>): Vault {
    const name = NAMED_HOST.exec(headers.host ?? '')?.[1];
    return (name !== undefined && this.#byName.get(name.toLowerCase())) || this.first;
  }

  /** Those that a request may be for: one where its address names it (`work.localhost`, `?vault=work`), else all. Undefined: there is none of that name. */
  among(request: Addressed): Candidates | undefined {
    const door = this.door(request);
    const asked = nameAsked(request.url);
    if (asked === undefined) return door === this.first ? [this.first, ...this.all.slice(1)] : [door];
    const named = this.#byName.get(asked);
    return named && (door === named || door === this.first) ? [named] : undefined;
  }

  /** For which the request is by its bearer token. */
  byToken(request: Addressed, token: string | undefined): Vault {
    const among = this.among(request) ?? [this.first];
    return (token !== undefined && knowing(among, token)) || among[0];
  }

  /** For which a browser comes back from an OAuth service; undefined: that is not what it asks. */
  byCallback(request: Addressed): Vault | undefined {
    const name = callbackVault(request.url);
    return name === '' ? this.door(request) : name === undefined ? undefined : this.#byName.get(name);
  }

  /** Lets in whom a vault knows by what its `connect` says, against the challenge of its own connection. */
  async admit(
    { among, bearer, origin }: { among: Candidates; bearer: string | undefined; origin: string | undefined },
    auth: unknown,
    nonce: string,
  ): Promise<{ vault: Vault; verdict: Admitted } | { vault?: undefined; verdict: Denial }> {
    const vault = await this.#byConnect(among, auth, bearer);
    if (!vault) return { verdict: WHICH };
    const verdict = await vault.auth.checkConnect(auth, bearer, nonce, origin);
    return verdict.ok ? { vault, verdict } : { verdict };
  }

  /** A password names no vault, so that it is tried on one only: undefined where several have one. */
  async #byConnect(among: Candidates, auth: unknown, bearer: string | undefined): Promise<Vault | undefined> {
    if (among.length === 1) return among[0];
    const { credentialId, token, deviceToken, password }: Record<string, unknown> =
      typeof auth === 'object' && auth !== null ? { ...auth } : {};
    if (typeof credentialId === 'string') return among.find((vault) => vault.auth.hasApp(credentialId)) ?? among[0];
    for (const each of [token, deviceToken, bearer]) {
      const found = typeof each === 'string' && knowing(among, each);
      if (found) return found;
    }
    if (typeof password !== 'string') return among[0];
    const states = await Promise.all(among.map(async (vault) => ({ vault, isSet: await vault.auth.hasPassword() })));
    const [only, another] = states.filter(({ isSet }) => isSet);
    return another ? undefined : (only?.vault ?? among[0]);
  }
}

const WHICH: Denial = {
  ok: false,
  code: 'AUTH_REQUIRED',
  message: 'Several vaults have a password. Name yours in the address (/ws?vault=…).',
};

/** Every vault is asked, whichever it is. */
function knowing(among: readonly Vault[], token: string): Vault | undefined {
  return among.filter((vault) => vault.auth.knows(token))[0];
}

/** The vault that an address names by `?vault=`. */
function nameAsked(url = ''): string | undefined {
  const at = url.indexOf('?');
  return at < 0 ? undefined : (new URLSearchParams(url.slice(at)).get('vault') ?? undefined);
}
