import {
  auth,
  type FetchLike,
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import type { AuthorizationGrant } from '../../../config/oauth/authorizations.ts';
import type { OauthClientConfig } from '../mcp-endpoints.ts';
import { type Permission, permissionSchema, type RegisteredClient } from './mcp-permission.ts';

interface AuthorizationFlowOptions {
  /** Address of the MCP server. */
  url: string;
  oauth: OauthClientConfig | undefined;
  /** The earlier permission: a valid registration in it is reused. */
  before: Permission | undefined;
  redirectUri: string;
  state: string;
  /** OAuth scopes that the server asks for, and the address of its metadata. */
  scope: string | undefined;
  metadataUrl: URL | undefined;
  /** Current time, in seconds since 1970. */
  now(): number;
}

/**
 * One pending authorization by a person, from the link to the tokens (RFC 6749 with PKCE, RFC 7591, RFC 8414, RFC 9207, RFC 9728), made by
 * the SDK. Its state is separate: the earlier permission stays until the new tokens have arrived.
 */
export class AuthorizationFlow implements OAuthClientProvider {
  readonly #options: AuthorizationFlowOptions;
  #client: RegisteredClient | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #resource: string | undefined;
  #verifier = '';
  #tokens: OAuthTokens | undefined;
  #link: URL | undefined;
  saveClientInformation?: (client: OAuthClientInformationMixed) => void;

  constructor(options: AuthorizationFlowOptions) {
    this.#options = options;
    const { oauth } = options;
    if (oauth?.clientId !== undefined) {
      const { clientId, clientSecret } = oauth;
      this.#client = { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
    } else this.saveClientInformation = (client) => void (this.#client = { ...client });
  }

  /** The address of the page where a person authorizes access. */
  async createLink(fetchFn: FetchLike): Promise<string> {
    await auth(this, { ...this.#getAuthOptions(fetchFn), ...this.#getMetadataOptions() });
    if (!this.#link) throw new Error('The authorization server has no authorization page.');
    return requireSafeLink(this.#link);
  }

  /** Exchanges the code for tokens. */
  async complete({ code, iss }: AuthorizationGrant, fetchFn: FetchLike): Promise<Permission> {
    await auth(this, { ...this.#getAuthOptions(fetchFn), authorizationCode: code, ...(iss === undefined ? {} : { iss }) });
    const { url, redirectUri } = this.#options;
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = this.#discovery ?? {};
    return permissionSchema.parse({
      url,
      redirectUri,
      client: this.#client,
      tokens: this.#tokens,
      authorizationServerUrl,
      metadata,
      resource: this.#resource,
    });
  }

  get redirectUrl(): string {
    return this.#options.redirectUri;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Perch',
      redirect_uris: [this.#options.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
  }

  state(): string {
    return this.#options.state;
  }

  clientInformation({ issuer }: { issuer?: string } = {}): RegisteredClient | undefined {
    if (this.#client) return this.#client;
    const { before, redirectUri, now } = this.#options;
    if (!before || before.redirectUri !== redirectUri || before.client.issuer !== issuer) return undefined;
    const { client_secret_expires_at: expiresAt = 0 } = before.client;
    if (expiresAt !== 0 && expiresAt <= now()) return undefined;
    return (this.#client = before.client);
  }

  /** No tokens: a person is asked, nothing is refreshed here. */
  tokens(): undefined {
    return undefined;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(link: URL): void {
    this.#link = link;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource;
  }

  #getAuthOptions(fetchFn: FetchLike): { serverUrl: string; scope?: string; fetchFn: FetchLike } {
    const { url, scope } = this.#options;
    return { serverUrl: url, ...(scope === undefined ? {} : { scope }), fetchFn };
  }

  #getMetadataOptions(): { resourceMetadataUrl?: URL } {
    const { metadataUrl } = this.#options;
    return metadataUrl ? { resourceMetadataUrl: metadataUrl } : {};
  }
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A person opens this link: throws if it is not a web page, or not encrypted. */
function requireSafeLink(url: URL): string {
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (!isSafe || url.username !== '' || url.password !== '')
    throw new Error(`The authorization page is not at a secure URL: ${url.href.slice(0, 200)}`);
  return url.href;
}
