import { isUtf8 } from 'node:buffer';
import { editsOf } from '#shared/http/body-edits.ts';
import { envelope } from '#shared/http/envelope.ts';
import type { Mux } from '#shared/link/mux.ts';
import type { Forward, SplicedCall } from '#shared/link/splice.ts';
import { parseJson } from '#shared/parse-json.ts';
import { type Asking, outgoing } from '../capabilities/asking.ts';
import { edited } from '../capabilities/edited.ts';
import type { Limits } from '../capabilities/held-answer.ts';

/** What a host has decided for a caller and a model, and lets stand for a moment. */
interface Decision {
  asking: Omit<Asking, 'body' | 'signal'>;
  /** As the upstream calls it. */
  model: string;
  addUsage: boolean;
  call: Pick<SplicedCall, 'provider' | 'model' | 'principal'>;
  wire: Forward['wire'];
  limits: Pick<Forward, 'idleMs' | 'trailerMs' | 'thinksFirst'>;
  /** By `performance.now()`. */
  until: number;
}

/** A request that is answered by such a decision, as it goes out. */
export interface Decided {
  asking: Omit<Asking, 'signal'>;
  call: Decision['call'];
  wire: Forward['wire'];
  messages: unknown[];
  /** Of events, where those are wanted. */
  events: Limits | undefined;
}

const BYTE_ORDER_MARK = 0xef;
/** Of one host; a host that has more callers and models decides anew. */
const MOST = 1000;

/**
 * Decisions of hosts that stand: for some seconds the next requests of the same caller for the same model are answered alike, without the host, which hears of
 * them by their receipts (docs/decisions/0023). Any of them that turns out badly, and any change of the host's mind, ends all of them.
 */
export class Standing {
  /** By host; there by caller and model. What is withdrawn is another map from then on. */
  readonly #kept = new WeakMap<Mux, Map<string, Decision>>();
  readonly #via: string;

  /** `via`: this gateway's name. */
  constructor(via: string) {
    this.#via = via;
  }

  /** A host has decided. The result lets it stand, if nothing was taken back meanwhile. */
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

  /** Whether a host has let anything stand: otherwise requests need not be read here. */
  any(mux: Mux): boolean {
    return (this.#kept.get(mux)?.size ?? 0) > 0;
  }

  /** How a request is to be answered; undefined where its host has to decide. `body`: all of it; `variant`: as `toVariant` has it. */
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

  /** Nothing that was decided before stands any more, nor what is being tried. */
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
