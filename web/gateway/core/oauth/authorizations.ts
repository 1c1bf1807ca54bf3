import { toClause } from '#shared/clause.ts';
import { toBase64url } from '#shared/base64.ts';
import type { Notice } from '#shared/http/notice-page.ts';
import { legible } from '#shared/legible.ts';
import { oauthPort } from '#shared/ports/oauth.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';

/** How long a person may take on the other service's pages. */
export const PENDING_MS = 10 * 60_000;
/** Authorizations that wait for their person: the oldest makes room. */
const MAX_PENDING = 32;
/** For trading the code. */
const COMPLETE_MS = 60_000;
/** Characters shown of what the other service says. */
const MAX_SAID = 300;

/** What came back with the browser. */
export interface Granted {
  code: string;
  /** Who issued the code (RFC 9207): whoever knows its issuer must compare. */
  iss: string | undefined;
}

export interface Wanted {
  /** Who wants it, as a sentence for persons begins: `The tool server far`. One authorization of each is pending: a later one takes its place. */
  owner: string;
  /** Trades the code. What it throws is shown to the person, as any error is. `signal` fires after a minute, and when the gateway ends. */
  complete(granted: Granted, signal: AbortSignal): Promise<void>;
  /** It does not come to that: why, in a sentence. Never called once `complete` was. */
  failed?(error: RpcError): void;
}

export interface Begun {
  /** Belongs into the other service's address as `state`. */
  state: string;
  /** Where that service is to send the browser back to. */
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
 * What waits for a person's word at another service (RFC 6749, section 4.1). Whoever comes back with a `state` needs no other credential: it has 256 bits, is
 * good once, and for ten minutes by the monotonic clock. Nothing of it is stored: where another host has taken over, the person begins anew.
 */
export class Authorizations {
  readonly #deps: AuthorizationsDeps;
  /** By state, the oldest first. */
  readonly #pending = new Map<string, Pending>();
  readonly #stopped = new AbortController();

  constructor(deps: AuthorizationsDeps) {
    this.#deps = deps;
  }

  /** `INTERNAL_ERROR` where there is no bridge for the browser to come back to. */
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

  /** What this owner waits for is not wanted any more. */
  cancel(owner: string, why = 'it was cancelled'): void {
    for (const [state, pending] of this.#pending) if (pending.owner === owner) this.#fail(state, why);
  }

  /** The browser is back, with this query: what its person is shown, once the code is traded. Never rejects. */
  async answer(query: URLSearchParams): Promise<Notice> {
    const state = only(query, 'state');
    if (state === undefined) return notice(400, 'Incomplete link', 'Open the link from Perch again.');
    const [code, error] = [only(query, 'code'), only(query, 'error')];
    const pending = this.#pending.get(state);
    if (!pending) {
      return notice(404, 'Link expired', 'Links work once and expire after 10 minutes. Go back to Perch and start again.');
    }
    // Whatever comes of it: it was used.
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

  /** Nobody is waited for any more. */
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

/** A parameter that is there once, as OAuth wants it (RFC 6749, section 3.1), and not too long to be one. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  const [value] = values;
  return values.length === 1 && value !== undefined && value !== '' && value.length <= 4096 ? value : undefined;
}

const notice = (status: number, title: string, text: string): Notice => ({ status, title, text });
