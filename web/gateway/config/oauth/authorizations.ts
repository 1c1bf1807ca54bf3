import { toClause } from '#shared/clause.ts';
import { toBase64url } from '#shared/base64.ts';
import type { Notice } from '#shared/http/notice-page.ts';
import { toPrintable } from '#shared/printable.ts';
import { oauthPort } from '#shared/ports/oauth-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';

/** Time for a person to complete the other service's pages. */
export const AUTHORIZATION_TIMEOUT_MS = 10 * 60_000;
/** Maximum number of pending authorizations; beyond it the oldest is dropped. */
const MAX_PENDING = 32;
/** Time limit for exchanging the code. */
const TOKEN_TIMEOUT_MS = 60_000;
/** Maximum number of characters shown of the other service's error. */
const MAX_ERROR_CHARS = 300;

/** Parameters of a successful redirect. */
export interface AuthorizationGrant {
  code: string;
  /** Issuer of the code (RFC 9207); must be compared if the expected issuer is known. */
  iss: string | undefined;
}

interface AuthorizationRequest {
  /**
   * The requesting party, in a form that starts a sentence: `MCP server far`. Only one authorization per owner is pending: a new one
   * replaces it.
   */
  owner: string;
  /** Exchanges the code for a token. Errors are shown to the person. `signal` fires after a minute, and when the gateway closes. */
  complete(grant: AuthorizationGrant, signal: AbortSignal): Promise<void>;
  /** Called with the reason if the authorization fails or is cancelled; never after `complete`. */
  onFailed?(error: RpcError): void;
}

interface AuthorizationStart {
  /** Value for the `state` parameter of the authorization URL. */
  state: string;
  /** Redirect URI for the other service. */
  redirectUri: string;
}

interface PendingAuthorization extends AuthorizationRequest {
  cancelTimeout(): void;
}

export interface AuthorizationsDeps {
  bridge: Bridge;
  clock: Clock;
  fault(error: unknown): RpcError;
}

/**
 * Pending OAuth authorizations at other services (RFC 6749, section 4.1). A redirect with a valid `state` needs no other credential: it has
 * 256 bits, is valid once, and for ten minutes of the monotonic clock. Nothing is stored: if another host becomes active, the person has to
 * start over.
 */
export class Authorizations {
  readonly #deps: AuthorizationsDeps;
  /** By state, oldest first. */
  readonly #pending = new Map<string, PendingAuthorization>();
  readonly #stopped = new AbortController();

  constructor(deps: AuthorizationsDeps) {
    this.#deps = deps;
  }

  /** Rejects with `INTERNAL_ERROR` if there is no bridge for the browser to return to. */
  async start(request: AuthorizationRequest): Promise<AuthorizationStart> {
    const { bridge, clock } = this.#deps;
    const { redirectUri } = await bridge.call(oauthPort, 'oauth.callback', {}, { signal: this.#stopped.signal });
    this.#stopped.signal.throwIfAborted();
    this.cancel(request.owner, 'authorization was started again');
    for (const [state] of this.#pending) {
      if (this.#pending.size < MAX_PENDING) break;
      this.#fail(state, 'too many other authorizations were started');
    }
    const state = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const cancelTimeout = clock.after(AUTHORIZATION_TIMEOUT_MS, () => this.#fail(state, 'it timed out after 10 minutes'));
    this.#pending.set(state, { ...request, cancelTimeout });
    return { state, redirectUri };
  }

  /** Cancels the pending authorization of an owner. */
  cancel(owner: string, reason = 'it was cancelled'): void {
    for (const [state, pending] of this.#pending) if (pending.owner === owner) this.#fail(state, reason);
  }

  /**
   * Handles the redirect back from the other service, and resolves with a notice for the person once the code is exchanged. Never rejects.
   */
  async handleCallback(query: URLSearchParams): Promise<Notice> {
    const state = getSingle(query, 'state');
    if (state === undefined) return createNotice(400, 'Incomplete link', 'Open the link from Perch again.');
    const [code, error] = [getSingle(query, 'code'), getSingle(query, 'error')];
    const pending = this.#pending.get(state);
    if (!pending) {
      return createNotice(404, 'Link expired', 'Links work once and expire after 10 minutes. Go back to Perch and start again.');
    }
    // The state is used up, whatever the outcome.
    if (error !== undefined || code === undefined) {
      const serviceError = [error, getSingle(query, 'error_description')].filter((part) => part !== undefined).join(': ');
      const reason =
        serviceError === '' ? 'the service sent no code' : `the service responded "${toPrintable(serviceError).slice(0, MAX_ERROR_CHARS)}"`;
      this.#fail(state, reason);
      return createNotice(403, 'Access denied', `${pending.owner} was not authorized: ${reason}. To try again, start in Perch.`);
    }
    this.#remove(state);
    try {
      await this.#complete(pending, { code, iss: getSingle(query, 'iss') });
    } catch (failure) {
      const { message } = failure instanceof RpcError ? failure : this.#deps.fault(failure);
      return createNotice(
        502,
        'Couldn’t connect',
        `Couldn’t connect ${pending.owner}: ${toClause(message)}. To try again, start in Perch.`,
      );
    }
    return createNotice(200, 'Connected', `${pending.owner} is connected. You can close this window.`);
  }

  /** Drops all pending authorizations. */
  stop(): void {
    this.#stopped.abort(new RpcError('ABORTED', 'The gateway was closed.'));
    for (const state of [...this.#pending.keys()]) this.#fail(state, 'the gateway was closed');
  }

  async #complete(pending: PendingAuthorization, grant: AuthorizationGrant): Promise<void> {
    const timeout = new AbortController();
    const signal = AbortSignal.any([timeout.signal, this.#stopped.signal]);
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
    const cancel = this.#deps.clock.after(TOKEN_TIMEOUT_MS, () =>
      timeout.abort(new RpcError('INTERNAL_ERROR', 'The service did not respond within a minute.')),
    );
    try {
      await Promise.race([pending.complete(grant, signal), aborted.promise]);
    } finally {
      cancel();
    }
  }

  #remove(state: string): PendingAuthorization | undefined {
    const pending = this.#pending.get(state);
    this.#pending.delete(state);
    pending?.cancelTimeout();
    return pending;
  }

  #fail(state: string, reason: string): void {
    const pending = this.#remove(state);
    pending?.onFailed?.(new RpcError('ABORTED', `${pending.owner} was not authorized: ${reason}.`));
  }
}

/** A parameter that occurs exactly once, as OAuth requires (RFC 6749, section 3.1), and is not too long. */
function getSingle(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  const [value] = values;
  return values.length === 1 && value !== undefined && value !== '' && value.length <= 4096 ? value : undefined;
}

const createNotice = (status: number, title: string, text: string): Notice => ({ status, title, text });
