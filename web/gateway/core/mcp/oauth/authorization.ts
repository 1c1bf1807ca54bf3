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
/** Errors that make a permission void; after all others a retry may succeed. */
const VOID: ReadonlySet<string> = new Set([OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient]);

export interface AuthorizationDeps {
  vault: Pick<Vault, 'secrets'>;
  clock: Pick<Clock, 'now'>;
  fetch: Fetch;
  authorizations(): Promise<Authorizations>;
  /** Redacts these secrets in the log. */
  hide(secrets: Iterable<string>): void;
  /** Called when a person has given authorization: the connection is worth another attempt. */
  given(): void;
  /** Called when the wanted scopes have changed. */
  changed(): void;
}

type HttpEntry = Extract<Entry, { url: string }>;

/**
 * A person's authorization for one MCP server over HTTP (revision 2025-11-25 of the protocol, "Authorization"): stores it, refreshes it,
 * and asks for it.
 */
export class McpAuthorization implements AuthProvider {
  readonly #entry: HttpEntry;
  readonly #deps: AuthorizationDeps;
  readonly #signal: AbortSignal;
  #permission: Permission | undefined;
  #renewing: Promise<boolean> | undefined;
  /** Whether the server refuses requests without authorization. */
  #refused = false;
  #wanted: { scope: string | undefined; metadataUrl: URL | undefined } | undefined;

  constructor(entry: HttpEntry, signal: AbortSignal, deps: AuthorizationDeps) {
    this.#entry = entry;
    this.#signal = signal;
    this.#deps = deps;
  }

  /** OAuth scopes to ask for; undefined if no authorization is needed. */
  get wants(): string | undefined {
    return this.#wanted && (this.#wanted.scope ?? '');
  }

  /** Reads the permission stored earlier or by another host. */
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

  /** Rejects if a person has to be asked. */
  async onUnauthorized({ response }: { response: Response }): Promise<void> {
    // Several requests may be refused at once, and a refresh token is often valid only once.
    const renewing = (this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined)));
    if (await renewing) return;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    this.#refused = true;
    this.#want(scope, resourceMetadataUrl);
    throw new RpcError('INTERNAL_ERROR', `MCP server ${this.#entry.name} must be authorized first.`);
  }

  /** Records if an error means that more permission is needed; true if the server refuses requests without it. */
  refusedBy(error: unknown): boolean {
    const cause = error instanceof RpcError ? error.cause : error;
    if (InsufficientScopeError.isInstance(cause)) {
      this.#want(computeScopeUnion(this.#permission?.tokens?.scope, cause.requiredScope), cause.resourceMetadataUrl);
      return false;
    }
    // Refused with a token that was just refreshed.
    if (SdkHttpError.isInstance(cause) && cause.status === 401) this.#refused = true;
    return this.#refused;
  }

  /** The address of the page where a person authorizes access. Rejects with a message for people if there is none. */
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

  /** Refreshes the tokens; false if there is no valid refresh token. Rejects if a retry may succeed. */
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
      // A registration that the server no longer knows is useless too.
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

/** Converts errors of the other service to messages for people. */
function failed(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new RpcError('INTERNAL_ERROR', withoutMiddle(legible(what.replace(/\s+/g, ' ')), MAX_CHARS), {}, { cause: error });
}
