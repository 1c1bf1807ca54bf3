import {
  type AuthProvider,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import { legible } from '#shared/legible.ts';
import { parseJson } from '#shared/parse-json.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Fetch } from '../../fetch.ts';
import type { Authorizations } from '../../oauth/authorizations.ts';
import type { Vault } from '../../vault.ts';
import type { Entry } from '../entries.ts';
import { oauthSecret } from '../settings.ts';
import { AskedPermission } from './asked-permission.ts';
import { namedFetch } from './named-fetch.ts';
import { type Permission, permission } from './permission.ts';

const MAX_CHARS = 500;
/** What was permitted is void; all else may be otherwise the next time. */
const VOID: ReadonlySet<string> = new Set([OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient]);

export interface AuthorizationDeps {
  vault: Pick<Vault, 'secrets'>;
  clock: Pick<Clock, 'now'>;
  fetch: Fetch;
  authorizations(): Promise<Authorizations>;
  /** No secret of it may stand in the log. */
  hide(secrets: Iterable<string>): void;
  /** A person has given permission: it is worth another try. */
  given(): void;
  /** Something else is wanted. */
  changed(): void;
}

type HttpEntry = Extract<Entry, { url: string }>;

/** A person's permission at the service of one tool server over HTTP (the protocol's revision 2025-11-25, "Authorization"): kept, renewed, and asked for. */
export class McpAuthorization implements AuthProvider {
  readonly #entry: HttpEntry;
  readonly #deps: AuthorizationDeps;
  readonly #signal: AbortSignal;
  #permission: Permission | undefined;
  #renewing: Promise<boolean> | undefined;
  /** Nothing goes without it. */
  #refused = false;
  #wanted: { scope: string | undefined; metadataUrl: URL | undefined } | undefined;

  constructor(entry: HttpEntry, signal: AbortSignal, deps: AuthorizationDeps) {
    this.#entry = entry;
    this.#signal = signal;
    this.#deps = deps;
  }

  /** OAuth scopes that are wanted; undefined where a person's permission is not. */
  get wants(): string | undefined {
    return this.#wanted && (this.#wanted.scope ?? '');
  }

  /** Reads what is there of an earlier life, or another host. */
  async load(): Promise<void> {
    if (this.#refused) this.#wanted = undefined;
    this.#refused = false;
    const text = await this.#deps.vault.secrets.get(oauthSecret(this.#entry.name));
    const kept = permission.safeParse(text === undefined ? undefined : parseJson(text)).data;
    this.#take(kept?.url === this.#entry.url ? kept : undefined);
  }

  async token(): Promise<string | undefined> {
    return this.#permission?.tokens?.access_token;
  }

  /** Rejects where a person has to be asked. */
  async onUnauthorized({ response }: { response: Response }): Promise<void> {
    // Several requests may be turned away at once, and a token that renews is often good once.
    const renewing = (this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined)));
    if (await renewing) return;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    this.#refused = true;
    this.#want(scope, resourceMetadataUrl);
    throw new RpcError('INTERNAL_ERROR', `MCP server ${this.#entry.name} must be authorized first.`);
  }

  /** Notes where a failure means that more permission is wanted; true where nothing goes without it. */
  refusedBy(error: unknown): boolean {
    const cause = error instanceof RpcError ? error.cause : error;
    if (InsufficientScopeError.isInstance(cause)) {
      this.#want(computeScopeUnion(this.#permission?.tokens?.scope, cause.requiredScope), cause.resourceMetadataUrl);
      return false;
    }
    // With a token that was just renewed: that one does not do either.
    if (SdkHttpError.isInstance(cause) && cause.status === 401) this.#refused = true;
    return this.#refused;
  }

  /** The address of the page where a person gives permission. Rejects with a sentence where there is none. */
  async ask(): Promise<string> {
    const { name, url, oauth } = this.#entry;
    const { authorizations, clock, fetch } = this.#deps;
    const owner = `MCP server ${name}`;
    const pending = await authorizations();
    const { state, redirectUri } = await pending.begin({
      owner,
      complete: async (granted, signal) => {
        try {
          await this.#save(await asked.complete(granted, namedFetch(fetch, url, AbortSignal.any([signal, this.#signal]))));
        } catch (error) {
          throw failed(error);
        }
        this.#wanted = undefined;
        this.#refused = false;
        this.#deps.given();
      },
    });
    this.#signal.addEventListener('abort', () => pending.cancel(owner), { once: true });
    const asked = new AskedPermission({
      ...{ url, oauth, redirectUri, state, before: this.#permission, metadataUrl: this.#wanted?.metadataUrl },
      scope: computeScopeUnion(this.#wanted?.scope, oauth?.scopes?.join(' ')),
      now: () => clock.now() / 1000,
    });
    try {
      return await asked.link(namedFetch(fetch, url, this.#signal));
    } catch (error) {
      pending.cancel(owner);
      throw failed(error);
    }
  }

  /** New tokens for the one that renews; false where there is none (any more). Rejects where it is worth another try. */
  async #renew(): Promise<boolean> {
    const { url } = this.#entry;
    const kept = this.#permission;
    if (kept?.tokens?.refresh_token === undefined) return false;
    const { authorizationServerUrl, metadata, client, resource, tokens } = kept;
    try {
      const renewed = await refreshAuthorization(authorizationServerUrl, {
        ...(metadata ? { metadata } : {}),
        ...(resource === undefined ? {} : { resource }),
        clientInformation: client,
        refreshToken: kept.tokens.refresh_token,
        fetchFn: namedFetch(this.#deps.fetch, url, this.#signal),
      });
      await this.#save({ ...kept, tokens: { ...renewed, scope: renewed.scope ?? tokens?.scope } });
      return true;
    } catch (error) {
      if (!OAuthError.isInstance(error) || !VOID.has(error.code)) throw failed(error);
      const { tokens: _void, ...registered } = kept;
      // A registration that is not known any more is of no use either.
      await this.#save(error.code === OAuthErrorCode.InvalidGrant ? registered : undefined);
      return false;
    }
  }

  #want(scope: string | undefined, metadataUrl: URL | undefined): void {
    this.#wanted = { scope: scope && legible(scope).slice(0, MAX_CHARS), metadataUrl };
    this.#deps.changed();
  }

  async #save(given: Permission | undefined): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#deps.vault.secrets.set(oauthSecret(this.#entry.name), given ? JSON.stringify(given) : null);
    this.#take(given);
  }

  #take(given: Permission | undefined): void {
    this.#permission = given;
    const { tokens, client } = given ?? {};
    this.#deps.hide([tokens?.access_token, tokens?.refresh_token, client?.client_secret].filter((secret) => secret !== undefined));
  }
}

/** What others say of a failure, for a person. */
function failed(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new RpcError('INTERNAL_ERROR', withoutMiddle(legible(what.replace(/\s+/g, ' ')), MAX_CHARS), {}, { cause: error });
}
