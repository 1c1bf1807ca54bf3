import { isUtf8 } from 'node:buffer';
import { editsOf } from '#shared/http/body-edits.ts';
import { envelope } from '#shared/http/envelope.ts';
import type { Mux } from '#shared/link/mux.ts';
import type { Forward, SplicedCall } from '#shared/link/splice.ts';
import { parseJson } from '#shared/parse-json.ts';
import { type Asking, outgoing } from '../capabilities/asking.ts';
import { edited } from '../capabilities/edited.ts';
import type { Limits } from '../capabilities/held-answer.ts';

/** A host's decision for a caller and a model, valid for a short time. */
interface Decision {
  asking: Omit<Asking, 'body' | 'signal'>;
  /** The upstream's name of the model. */
  model: string;
  addUsage: boolean;
  call: Pick<SplicedCall, 'provider' | 'model' | 'principal'>;
  wire: Forward['wire'];
  limits: Pick<Forward, 'idleMs' | 'trailerMs' | 'thinksFirst'>;
  /** Expiry, by `performance.now()`. */
  until: number;
}

/** A request as it is sent upstream by a cached decision. */
export interface Decided {
  asking: Omit<Asking, 'signal'>;
  call: Decision['call'];
  wire: Forward['wire'];
  messages: unknown[];
  /** Time limits for events, if the caller wants events. */
  events: Limits | undefined;
}

const BYTE_ORDER_MARK = 0xef;
/** Maximum number of decisions per host. If there are more, its cache is cleared. */
const MOST = 1000;

/**
 * Cache of hosts' routing decisions: for some seconds, requests of the same caller for the same model are answered the same way without the
 * host, which learns of them from their receipts (docs/decisions/0023). A bad outcome, or a change of the host's decision, clears the
 * host's cache.
 */
export class Standing {
  /** By host, then by caller and model. Withdrawing replaces the inner map. */
  readonly #kept = new WeakMap<Mux, Map<string, Decision>>();
  readonly #via: string;

  /** `via`: id of this gateway. */
  constructor(via: string) {
    this.#via = via;
  }

  /** Records a host's decision. The result activates it, unless decisions were withdrawn in the meantime. */
  given(mux: Mux, { standing, call, wire, idleMs, trailerMs, thinksFirst }: Forward, headers: Record<string, string>): () => void {
    const url = headers[':url'];
    if (!standing || url === undefined) return () => {};
    const kept = this.#kept.get(mux) ?? new Map<string, Decision>();
    this.#kept.set(mux, kept);
    const asking = { url, ...outgoing(headers, this.#via) };
    return () => {
      if (this.#kept.get(mux) !== kept) return;
      if (kept.size >= MOST) kept.clear();
      const { provider, model, principal } = call;
      const { asked, variant, ms, addUsage } = standing;
      const limits = { idleMs, trailerMs, thinksFirst };
      const decision = { asking, model: standing.model, addUsage, call: { provider, model, principal }, wire, limits };
      kept.set(keyOf(principal, variant, asked), { ...decision, until: performance.now() + ms });
    };
  }

  /** Whether a host has cached decisions. Otherwise requests need not be read here. */
  any(mux: Mux): boolean {
    return (this.#kept.get(mux)?.size ?? 0) > 0;
  }

  /** Returns how to answer a request; undefined if its host has to decide. `body`: the whole body; `variant`: see `toVariant`. */
  decide(mux: Mux, principal: string, body: Buffer, variant = ''): Decided | undefined {
    const kept = this.#kept.get(mux);
    if (!kept || !isUtf8(body) || body[0] === BYTE_ORDER_MARK) return undefined;
    const text = body.toString();
    const asked = readEnvelope(text);
    if (!asked) return undefined;
    const key = keyOf(principal, variant, asked.model);
    const decision = kept.get(key);
    if (!decision) return undefined;
    if (decision.until < performance.now()) return void kept.delete(key);
    const stripUsage = asked.stream === true && decision.addUsage && asked.stream_options?.include_usage !== true;
    const options = stripUsage ? { stream_options: { ...asked.stream_options, include_usage: true } } : {};
    const edits = editsOf(text, asked, { ...asked, model: decision.model, ...options });
    const sent = edits && edited(body, edits);
    if (!sent) return undefined;
    const { wire } = decision;
    const events = asked.stream ? { ...decision.limits, wire, choices: asked.n ?? 1, stripUsage } : undefined;
    return { asking: { ...decision.asking, body: sent }, call: decision.call, wire, messages: asked.messages, events };
  }

  /** Clears a host's decisions, including pending ones. */
  withdraw(mux: Mux): void {
    this.#kept.delete(mux);
  }
}

const keyOf = (principal: string, variant: string, model: string): string => JSON.stringify([principal, variant, model]);

function readEnvelope(text: string): ReturnType<typeof envelope.parse> | undefined {
  try {
    return envelope.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}
