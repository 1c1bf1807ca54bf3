import { toBase64url } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import type { Authorizations } from '../../../config/oauth/authorizations.ts';
import { abortable } from '#shared/async/watchdog.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import { requestPlatform, PlatformError } from '../platform-request.ts';
import { getApiBase, type XSettings } from '../../../config/sections/channel-settings.ts';
import { NAME } from './x-api.ts';

/**
 * OAuth scopes for direct messages, answers and token refresh
 * (https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code).
 */
const SCOPES = 'dm.read dm.write tweet.read tweet.write users.read offline.access';
/** Name of the vault secret with the tokens; they are not a setting. */
const SECRET_NAME = 'oauth:channels.x';
/** Time before its expiry at which a token is refreshed. */
const REFRESH_MARGIN_MS = 60_000;

const tokenResponse = z.object({
  access_token: z.string().min(1).max(4096),
  refresh_token: z.string().min(1).max(4096).optional(),
  expires_in: z.number().positive().max(10_000_000).optional(),
});
const tokenError = z.object({ error: z.string().max(200), error_description: z.string().max(1000).optional() });

const storedTokens = z.object({
  /** Origin of the server that issued the tokens; they are sent to no other one. */
  origin: z.string(),
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** Milliseconds since 1970. */
  expiresAt: z.number(),
});
type StoredTokens = z.infer<typeof storedTokens>;

interface XAuthorizationDeps {
  fetch: Fetch;
  clock: Clock;
  secrets: Vault['secrets'];
  settings(): XSettings | undefined;
  /** `clientSecret`, if the app has one. */
  clientSecret(): string | undefined;
  /** Redacts these secrets in the log. */
  hide(secrets: Iterable<string>): void;
  /** Called when the account has given authorization. */
  onAuthorized(): void;
}

/** The account's own authorization at X: OAuth 2.0 with PKCE (RFC 7636); tokens are encrypted in the vault and refreshed with rotation. */
export class XAuthorization {
  readonly #deps: XAuthorizationDeps;
  /** Pending refresh, shared by all callers, since a refresh token is valid only once. */
  #refreshing: Promise<StoredTokens> | undefined;

  constructor(deps: XAuthorizationDeps) {
    this.#deps = deps;
  }

  /**
   * Starts an authorization and returns the address for the account's owner. Throws `INVALID_PARAMS` if the app is not configured, and
   * `INTERNAL_ERROR` without a bridge.
   */
  async begin(authorizations: Pick<Authorizations, 'start'>): Promise<string> {
    const settings = this.#settings();
    const clientId = this.#clientId();
    const verifier = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const { state, redirectUri } = await authorizations.start({
      owner: 'Channel X',
      complete: async ({ code }, signal) => {
        const params = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
        try {
          await this.#storeTokens(await this.#requestTokens(params, signal), null);
        } catch (error) {
          throw error instanceof PlatformError ? new RpcError('INTERNAL_ERROR', error.message, {}, { cause: error }) : error;
        }
        this.#deps.onAuthorized();
      },
    });
    const base = getApiBase('x', settings);
    const url = new URL(`${base === getApiBase('x', undefined) ? 'https://x.com' : base}/i/oauth2/authorize`);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: SCOPES,
      state,
      code_challenge: toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))),
      code_challenge_method: 'S256',
    }).toString();
    return url.href;
  }

  /** A valid token; undefined if there is no authorization. Throws `PlatformError` if it cannot be refreshed. */
  async getToken(signal: AbortSignal): Promise<string | undefined> {
    const tokens = await this.#readTokens();
    if (!tokens) return undefined;
    if (this.#isValid(tokens)) return tokens.accessToken;
    // A caller's abort does not cancel the refresh: tokens that X has already issued would be lost.
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return (await abortable(this.#refreshing, signal)).accessToken;
  }

  async #refresh(): Promise<StoredTokens> {
    // Another call may have refreshed it in the meantime.
    const tokens = await this.#readTokens();
    if (tokens && this.#isValid(tokens)) return tokens;
    const refreshToken = tokens?.refreshToken ?? null;
    if (refreshToken === null) throw createExpiredError('it has expired');
    const params = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return this.#storeTokens(await this.#requestTokens(params, new AbortController().signal), refreshToken);
  }

  #isValid({ expiresAt }: StoredTokens): boolean {
    return expiresAt - this.#deps.clock.now() > REFRESH_MARGIN_MS;
  }

  /** The stored tokens, if they belong to this server and app. */
  async #readTokens(): Promise<StoredTokens | undefined> {
    const { secrets, hide } = this.#deps;
    const text = await secrets.get(SECRET_NAME);
    const settings = this.#deps.settings();
    if (text === undefined || !settings?.clientId) return undefined;
    const found = storedTokens.parse(JSON.parse(text));
    hide([found.accessToken, ...(found.refreshToken === null ? [] : [found.refreshToken])]);
    return found.origin === this.#origin() && found.clientId === settings.clientId ? found : undefined;
  }

  /** Stores the tokens strictly before they are used: the previous ones are no longer valid. */
  async #storeTokens(
    { access_token, refresh_token, expires_in = 7200 }: z.infer<typeof tokenResponse>,
    before: string | null,
  ): Promise<StoredTokens> {
    const { secrets, clock, hide } = this.#deps;
    const tokens: StoredTokens = {
      origin: this.#origin(),
      clientId: this.#clientId(),
      accessToken: access_token,
      refreshToken: refresh_token ?? before,
      expiresAt: clock.now() + expires_in * 1000,
    };
    hide([access_token, ...(tokens.refreshToken === null ? [] : [tokens.refreshToken])]);
    await secrets.set(SECRET_NAME, JSON.stringify(tokens));
    return tokens;
  }

  async #requestTokens(params: Record<string, string>, signal: AbortSignal): Promise<z.infer<typeof tokenResponse>> {
    const { fetch, clock } = this.#deps;
    const [clientId, secret] = [this.#clientId(), this.#deps.clientSecret()];
    // An app without a secret identifies itself by its client id only (RFC 6749, section 3.2.1).
    const form = secret === undefined ? { ...params, client_id: clientId } : params;
    const basic = btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret ?? '')}`);
    const answer = await requestPlatform({ name: NAME, fetch, clock }, `${getApiBase('x', this.#settings())}/2/oauth2/token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(secret === undefined ? {} : { authorization: `Basic ${basic}` }),
      },
      body: new URLSearchParams(form).toString(),
      signal,
    });
    const parsed = tokenResponse.safeParse(answer.json);
    if (answer.status === 200 && parsed.success) return parsed.data;
    const errorDetails = tokenError.safeParse(answer.json);
    if (errorDetails.success) throw createExpiredError(`X answered “${errorDetails.data.error}”`);
    throw new PlatformError(`${NAME} did not issue a token (${answer.status}).`, { status: answer.status });
  }

  #settings(): XSettings {
    const settings = this.#deps.settings();
    if (!settings) throw new RpcError('NOT_FOUND', 'Channel "x" is not configured. Set channels.x first.');
    return settings;
  }

  #clientId(): string {
    const { clientId } = this.#settings();
    if (clientId) return clientId;
    throw new RpcError('INVALID_PARAMS', 'channels.x.clientId is not set. Enter the OAuth 2.0 client ID of your X app.');
  }

  #origin(): string {
    return new URL(getApiBase('x', this.#settings())).origin;
  }
}

const createExpiredError = (reason: string): PlatformError =>
  new PlatformError(`The account’s authorization is no longer valid: ${reason}. Authorize it again in Channels (channels.authorize).`, {
    isUnsent: true,
  });
