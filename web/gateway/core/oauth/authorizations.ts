import { toClause } from '#shared/clause.ts';
import { toBase64url } from '#shared/base64.ts';
import type { Notice } from '#shared/http/notice-page.ts';
import { legible } from '#shared/legible.ts';
import { oauthPort } from '#shared/ports/oauth.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';

/** Time for a person to complete the other service's pages. */
export const PENDING_MS = 10 * 60_000;
/** Maximum number of pending authorizations; beyond it the oldest is dropped. */
const MAX_PENDING = 32;
/** Time limit for exchanging the code. */
const COMPLETE_MS = 60_000;
/** Maximum number of characters shown of the other service's error. */
const MAX_SAID = 300;

/** Parameters of a successful redirect. */
export interface Granted {
  code: string;
  /** Issuer of the code (RFC 9207); must be compared if the expected issuer is known. */
  iss: string | undefined;
}

export interface Wanted {
  /**
   * The requesting party, in a form that starts a sentence: `MCP server far`. Only one authorization per owner is pending: a new one
   * replaces it.
   */
  owner: string;
  /** Exchanges the code for a token. Errors are shown to the person. `signal` fires after a minute, and when the gateway closes. */
  complete(granted: Granted, signal: AbortSignal): Promise<void>;
  /** Called with the reason if the authorization fails or is cancelled; never after `complete`. */
  failed?(error: RpcError): void;
}

export interface Begun {
  /** Value for the `state` parameter of the authorization URL. */
  state: string;
  /** Redirect URI for the other service. */
  redirectUri: string;
}

interface Pending extends Wanted {
  forget(): void;
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
  readonly #pending = new Map<string, Pending>();
  readonly #stopped = new AbortController();

  constructor(deps: AuthorizationsDeps) {
    this.#deps = deps;
  }

  /** Rejects with `INTERNAL_ERROR` if there is no bridge for the browser to return to. */
  async begin(wanted: Wanted): Promise<Begun> {
    const { bridge, clock } = this.#deps;
    const { redirectUri } = await bridge.call(oauthPort, 'oauth.callback', {}, { signal: this.#stopped.signal });
    this.#stopped.signal.throwIfAborted();
    this.cancel(wanted.owner, 'authorization was started again');
    for (const [state] of this.#pending) {
      if (this.#pending.size < MAX_PENDING) break;
      this.#fail(state, 'too many other authorizations were started');
    }
    const state = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const forget = clock.after(PENDING_MS, () => this.#fail(state, 'it timed out after 10 minutes'));
    this.#pending.set(state, { ...wanted, forget });
    return { state, redirectUri };
  }

  /** Cancels the pending authorization of an owner. */
  cancel(owner: string, why = 'it was cancelled'): void {
    for (const [state, pending] of this.#pending) if (pending.owner === owner) this.#fail(state, why);
  }

  /**
   * Handles the redirect back from the other service, and resolves with a notice for the person once the code is exchanged. Never rejects.
   */
  async answer(query: URLSearchParams): Promise<Notice> {
    const state = only(query, 'state');
    if (state === undefined) return notice(400, 'Incomplete link', 'Open the link from Perch again.');
    const [code, error] = [only(query, 'code'), only(query, 'error')];
    const pending = this.#pending.get(state);
    if (!pending) {
      return notice(404, 'Link expired', 'Links work once and expire after 10 minutes. Go back to Perch and start again.');
    }
    // The state is used up, whatever the outcome.
    if (error !== undefined || code === undefined) {
      const said = [error, only(query, 'error_description')].filter((part) => part !== undefined).join(': ');
      const why = said === '' ? 'the service sent no code' : `the service responded "${legible(said).slice(0, MAX_SAID)}"`;
      this.#fail(state, why);
      return notice(403, 'Access denied', `${pending.owner} was not authorized: ${why}. To try again, start in Perch.`);
    }
    this.#take(state);
    try {
      await this.#complete(pending, { code, iss: only(query, 'iss') });
    } catch (failure) {
      const { message } = failure instanceof RpcError ? failure : this.#deps.fault(failure);
      return notice(502, 'Couldn’t connect', `Couldn’t connect ${pending.owner}: ${toClause(message)}. To try again, start in Perch.`);
    }
    return notice(200, 'Connected', `${pending.owner} is connected. You can close this window.`);
  }

  /** Drops all pending authorizations. */
  stop(): void {
    this.#stopped.abort(new RpcError('ABORTED', 'The gateway was closed.'));
    for (const state of [...this.#pending.keys()]) this.#fail(state, 'the gateway was closed');
  }

  async #complete(pending: Pending, granted: Granted): Promise<void> {
    const late = new AbortController();
    const signal = AbortSignal.any([late.signal, this.#stopped.signal]);
    const over = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => over.reject(signal.reason), { once: true });
    const cancel = this.#deps.clock.after(COMPLETE_MS, () =>
      late.abort(new RpcError('INTERNAL_ERROR', 'The service did not respond within a minute.')),
    );
    try {
      await Promise.race([pending.complete(granted, signal), over.promise]);
    } finally {
      cancel();
    }
  }

  #take(state: string): Pending | undefined {
    const pending = this.#pending.get(state);
    this.#pending.delete(state);
    pending?.forget();
    return pending;
  }

  #fail(state: string, why: string): void {
    const pending = this.#take(state);
    pending?.failed?.(new RpcError('ABORTED', `${pending.owner} was not authorized: ${why}.`));
  }
}

/** A parameter that occurs exactly once, as OAuth requires (RFC 6749, section 3.1), and is not too long. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  const [value] = values;
  return values.length === 1 && value !== undefined && value !== '' && value.length <= 4096 ? value : undefined;
}

const notice = (status: number, title: string, text: string): Notice => ({ status, title, text });
