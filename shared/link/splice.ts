import { usage } from '../rpc/records.ts';
import { z } from '../rpc/zod.ts';

// A streamed answer of a model goes from the bridge straight to the caller (design.md, "Control in the worker, bytes by the shortest way"):
// the host asks over `egress` for an answer to be held (`:hold`), hears its head, and answers its own caller with the number of that stream.
// None of this is in HTTP headers: what callers and upstreams send cannot bring it about.

/** In the opening of an egress request: an answer of success that streams is not sent here, but held until the host says for whom it is. */
export const HOLD_HEADER = ':hold';
export const hold = z.object({
  /** Completions that were asked for at once. */
  choices: z.number().int().min(1),
  /** Milliseconds of silence after which the upstream is given up, and after which an answer that only lacks its trailer is taken for whole. */
  idleMs: z.number().int().positive(),
  trailerMs: z.number().int().positive(),
  /** The figures of usage were asked for here, not by the caller, who does not get to see them. */
  stripUsage: z.boolean(),
});
export type Hold = z.infer<typeof hold>;

/** A call of a model whose usage is to be recorded. */
export const splicedCall = z.object({
  /** The usage record's: what is told twice counts once. */
  id: z.string().max(100),
  provider: z.string().max(300),
  model: z.string().max(1000),
  principal: z.string().max(300),
  /** An estimate of the request's tokens, for upstreams that give no figures. */
  inputTokens: z.number().int().nonnegative(),
});
export type SplicedCall = z.infer<typeof splicedCall>;

/** In the head of a host's answer: the held answer of that egress stream follows as the body. */
export const splice = z.object({ from: z.number().int().positive(), call: splicedCall });
export type Splice = z.infer<typeof splice>;

/** `odd`: an event that is no piece of a completion, or tells of an error. `left`: the caller hung up. */
export const spliceEnd = z.object({ how: z.enum(['done', 'odd', 'cut', 'silent', 'large', 'left']), text: z.string().optional() });
/** How a spliced answer ended, as the host that began it hears on the egress stream; `text` is the odd event's data. */
export type SpliceEnd = z.infer<typeof spliceEnd>;

/** Streams that the bridge opens to tell what spliced calls have used; answered when that is stored. */
export const RECEIPTS_KIND = 'receipts';
export const receipt = z.object({
  call: splicedCall,
  /** Milliseconds since 1970. */
  endedAt: z.number(),
  how: spliceEnd.shape.how,
  usage: usage.optional(),
  /** Characters of text that were generated. */
  chars: z.number().int().nonnegative(),
});
export type Receipt = z.infer<typeof receipt>;
export const receipts = z.array(receipt).max(1000);

/** An answer that the bridge holds; its body is the `SpliceEnd`, once it has been spliced. */
export class HeldResponse extends Response {
  readonly stream: number;
  constructor(body: BodyInit | null, init: ResponseInit, stream: number) {
    super(body, init);
    this.stream = stream;
  }
}

/** An answer whose body is a held one; what its own body has comes behind that. */
export class SplicedResponse extends Response {
  readonly splice: Splice;
  constructor(body: BodyInit | null, init: ResponseInit, splice: Splice) {
    super(body, init);
    this.splice = splice;
  }
}
