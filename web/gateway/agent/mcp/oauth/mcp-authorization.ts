import {
  type AuthProvider,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  SdkHttpError,
  type FetchLike,
} from '@modelcontextprotocol/client';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { toPrintable } from '#shared/printable.ts';
import { parseJson } from '#shared/parse-json.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import type { Authorizations } from '../../../config/oauth/authorizations.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { McpEndpoint } from '../mcp-endpoints.ts';
import { toOauthSecretName } from '../../../config/sections/mcp-settings.ts';
import { AuthorizationFlow } from './authorization-flow.ts';
import { type Permission, permissionSchema } from './mcp-permission.ts';
import type { Lazy } from '../../../system/modules.ts';

/** Time limit for each document and each token. */
const TIMEOUT_MS = 15_000;

const MAX_BYTES = 256 * 1024;

const NO_BODY = new Set([204, 205, 304]);

const MAX_TEXT_CHARS = 500;
/** Errors that make a permission void; after all others a retry may succeed. */
const REVOKED_ERRORS: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

export interface McpAuthorizationDeps {
  vault: Pick<Vault, 'secrets'>;
  clock: Pick<Clock, 'now'>;
  fetch: Fetch;
  authorizations: Lazy<Authorizations>;
  /** Redacts these secrets in the log. */
  hide(secrets: Iterable<string>): void;
  /** Called when a person has given authorization: the connection is worth another attempt. */
  onGranted(): void;
  /** Called when the wanted scopes have changed. */
  onChanged(): void;
}

type HttpEndpoint = Extract<McpEndpoint, { url: string }>;

/**
 * A person's authorization for one MCP server over HTTP (revision 2025-11-25 of the protocol, "Authorization"): stores it, refreshes it,
 * and asks for it.
 */
export class McpAuthorization implements AuthProvider {
  readonly #endpoint: HttpEndpoint;
  readonly #deps: McpAuthorizationDeps;
  readonly #signal: AbortSignal;
  #permission: Permission | undefined;
  #refreshing: Promise<boolean> | undefined;
  /** Whether the server refuses requests without authorization. */
  #isRefused = false;
  #requested: { scope: string | undefined; metadataUrl: URL | undefined } | undefined;

  constructor(endpoint: HttpEndpoint, signal: AbortSignal, deps: McpAuthorizationDeps) {
    this.#endpoint = endpoint;
    this.#signal = signal;
    this.#deps = deps;
  }

  /** OAuth scopes to ask for; undefined if no authorization is needed. */
  get requestedScope(): string | undefined {
    return this.#requested && (this.#requested.scope ?? '');
  }

  /** Reads the permission stored earlier or by another host. */
  async load(): Promise<void> {
    if (this.#isRefused) this.#requested = undefined;
    this.#isRefused = false;
    const text = await this.#deps.vault.secrets.get(toOauthSecretName(this.#endpoint.name));
    const stored = permissionSchema.safeParse(text === undefined ? undefined : parseJson(text)).data;
    this.#apply(stored?.url === this.#endpoint.url ? stored : undefined);
  }

  async token(): Promise<string | undefined> {
    return this.#permission?.tokens?.access_token;
  }

  /** Rejects if a person has to be asked. */
  async onUnauthorized({ response }: { response: Response }): Promise<void> {
    // Several requests may be refused at once, and a refresh token is often valid only once.
    const refreshing = (this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined)));
    if (await refreshing) return;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    this.#isRefused = true;
    this.#requestScope(scope, resourceMetadataUrl);
    throw new RpcError('INTERNAL_ERROR', `MCP server ${this.#endpoint.name} must be authorized first.`);
  }

  /** Records if an error means that more permission is needed; true if the server refuses requests without it. */
  checkRefusal(error: unknown): boolean {
    const cause = error instanceof RpcError ? error.cause : error;
    if (InsufficientScopeError.isInstance(cause)) {
      this.#requestScope(computeScopeUnion(this.#permission?.tokens?.scope, cause.requiredScope), cause.resourceMetadataUrl);
      return false;
    }
    // Refused with a token that was just refreshed.
    if (SdkHttpError.isInstance(cause) && cause.status === 401) this.#isRefused = true;
    return this.#isRefused;
  }

  /** The address of the page where a person authorizes access. Rejects with a message for people if there is none. */
  async createLink(): Promise<string> {
    const { name, url, oauth } = this.#endpoint;
    const { authorizations, clock, fetch } = this.#deps;
    const owner = `MCP server ${name}`;
    const pending = await authorizations.load();
    const { state, redirectUri } = await pending.start({
      owner,
      complete: async (granted, signal) => {
        try {
          await this.#save(await flow.complete(granted, createRestrictedFetch(fetch, url, AbortSignal.any([signal, this.#signal]))));
        } catch (error) {
          throw toRpcError(error);
        }
        this.#requested = undefined;
        this.#isRefused = false;
        this.#deps.onGranted();
      },
    });
    this.#signal.addEventListener('abort', () => pending.cancel(owner), { once: true });
    const flow = new AuthorizationFlow({
      ...{ url, oauth, redirectUri, state, before: this.#permission, metadataUrl: this.#requested?.metadataUrl },
      scope: computeScopeUnion(this.#requested?.scope, oauth?.scopes?.join(' ')),
      now: () => clock.now() / 1000,
    });
    try {
      return await flow.createLink(createRestrictedFetch(fetch, url, this.#signal));
    } catch (error) {
      pending.cancel(owner);
      throw toRpcError(error);
    }
  }

  /** Refreshes the tokens; false if there is no valid refresh token. Rejects if a retry may succeed. */
  async #refresh(): Promise<boolean> {
    const { url } = this.#endpoint;
    const stored = this.#permission;
    if (stored?.tokens?.refresh_token === undefined) return false;
    const { authorizationServerUrl, metadata, client, resource, tokens } = stored;
    try {
      const refreshedTokens = await refreshAuthorization(authorizationServerUrl, {
        ...(metadata ? { metadata } : {}),
        ...(resource === undefined ? {} : { resource }),
        clientInformation: client,
        refreshToken: stored.tokens.refresh_token,
        fetchFn: createRestrictedFetch(this.#deps.fetch, url, this.#signal),
      });
      await this.#save({ ...stored, tokens: { ...refreshedTokens, scope: refreshedTokens.scope ?? tokens?.scope } });
      return true;
    } catch (error) {
      if (!OAuthError.isInstance(error) || !REVOKED_ERRORS.has(error.code)) throw toRpcError(error);
      const { tokens: _void, ...withoutTokens } = stored;
      // A registration that the server no longer knows is useless too.
      await this.#save(error.code === OAuthErrorCode.InvalidGrant ? withoutTokens : undefined);
      return false;
    }
  }

  #requestScope(scope: string | undefined, metadataUrl: URL | undefined): void {
    this.#requested = { scope: scope && toPrintable(scope).slice(0, MAX_TEXT_CHARS), metadataUrl };
    this.#deps.onChanged();
  }

  async #save(granted: Permission | undefined): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#deps.vault.secrets.set(toOauthSecretName(this.#endpoint.name), granted ? JSON.stringify(granted) : null);
    this.#apply(granted);
  }

  #apply(granted: Permission | undefined): void {
    this.#permission = granted;
    const { tokens, client } = granted ?? {};
    this.#deps.hide([tokens?.access_token, tokens?.refresh_token, client?.client_secret].filter((secret) => secret !== undefined));
  }
}

/** Converts errors of the other service to messages for people. */
function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const problem = error instanceof Error ? error.message : String(error);
  return new RpcError('INTERNAL_ERROR', truncateMiddle(toPrintable(problem.replace(/\s+/g, ' ')), MAX_TEXT_CHARS), {}, { cause: error });
}

/**
 * A `fetch` for addresses that the MCP server at `url` names for its authorization: sends none of the server's headers, follows no
 * redirect, limits time and size of a response, and lets the bridge check addresses of other origins (`FetchInit.namedBy`).
 */
function createRestrictedFetch(fetch: Fetch, url: string, signal: AbortSignal): FetchLike {
  const { origin } = new URL(url);
  return async (to, { method = 'GET', headers, body } = {}) => {
    if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof URLSearchParams))
      throw new TypeError('only text can be sent to authorization servers');
    const { href, host } = new URL(to);
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const response = await fetch(href, {
        ...{ method, namedBy: origin, signal: AbortSignal.any([signal, timeout]) },
        headers: Object.fromEntries(new Headers(headers)),
        ...(body ? { body: body.toString() } : {}),
      });
      return new Response(NO_BODY.has(response.status) ? null : await readLimited(response, host), response);
    } catch (error) {
      if (timeout.aborted) throw new Error(`${host} did not respond within ${TIMEOUT_MS / 1000} s.`, { cause: error });
      // The SDK takes a `TypeError` for a CORS error, and retries.
      throw error instanceof TypeError ? new Error(error.message, { cause: error }) : error;
    }
  };
}

async function readLimited(response: Response, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    size += part.byteLength;
    if (size > MAX_BYTES) throw new Error(`${host} sent more than ${MAX_BYTES / 1024} KiB.`);
  }
  const body = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.byteLength;
  }
  return body;
}
