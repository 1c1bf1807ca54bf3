import { usage } from '../rpc/record-schemas.ts';
import { z } from '../rpc/zod.ts';

// A model's answer goes from the bridge straight to the caller: the host specifies over `forward` the request to the upstream and the
// caller that gets a successful answer; every other answer returns to the host. None of this is in HTTP headers: callers and upstreams
// cannot trigger it.

/** A model call whose usage is to be recorded. */
const splicedCall = z.object({
  /** Id of the usage record: duplicates count once. */
  id: z.string().max(100),
  provider: z.string().max(300),
  model: z.string().max(1000),
  principal: z.string().max(300),
  /** An estimate of the request's tokens, for upstreams that report no usage; otherwise ignored. */
  inputTokens: z.number().int().nonnegative(),
  /** Id of the request in the host's log, if the host has not seen the request itself. */
  requestId: z.string().max(200).optional(),
});
export type SplicedCall = z.infer<typeof splicedCall>;

/** An edit of a request's body, by byte offsets. */
const bodyEdit = z.object({ at: z.number().int().nonnegative(), drop: z.number().int().nonnegative(), put: z.string() });
export type BodyEdit = z.infer<typeof bodyEdit>;

/** The bridge's port for outgoing requests like `egress` whose successful responses go directly to a caller. */
export const FORWARD_KIND = 'forward';
/**
 * In the opening of a request that came through another bridge, whose caller this one cannot send an upstream's response to: the host
 * answers it itself.
 */
export const VIA_BRIDGE_HEADER = 'x-perch-afar';
/** In the opening of its streams, a `ForwardRequest`. */
export const FORWARD_HEADER = ':forward';
export const forwardRequest = z.object({
  /** The number of the stream on which the caller’s request came. */
  to: z.number().int().positive(),
  call: splicedCall,
  /** Format of the answer: chat completions, or Anthropic's Messages API. */
  wire: z.enum(['chat', 'messages']).default('chat'),
  /** Differences between the body and the caller's own, in order; left out if the body is included. */
  edits: z.array(bodyEdit).max(10).optional(),
  /** Whether the caller expects an event stream or a complete response. Other responses go to the host. */
  stream: z.boolean(),
  /** Number of completions requested (`n`). */
  choices: z.number().int().min(1),
  /** Idle timeouts in milliseconds: of the upstream, and of a response that only lacks its trailer and then counts as complete. */
  idleMs: z.number().int().positive(),
  trailerMs: z.number().int().positive(),
  /** The gateway requested the usage, not the caller, so it is removed from the response. */
  stripUsage: z.boolean(),
  /** The model's text may close a thinking block that it did not open. */
  thinksFirst: z.boolean().default(false),
  /** Validity of this decision, in milliseconds, for the caller's next requests of the same model, if this answer succeeds. */
  standing: z
    .object({
      ms: z.number().int().positive(),
      /** Model name of the caller, and of the upstream. */
      asked: z.string(),
      model: z.string(),
      /** Everything in the request line and headers that the decision depends on, as returned by `toVariant`. */
      variant: z.string().max(10_000).default(''),
      /** Requests usage for streams whose caller did not, and removes it from the response. */
      addUsage: z.boolean().default(false),
    })
    .optional(),
});
export type ForwardRequest = z.infer<typeof forwardRequest>;

/** A stream that a host opens and ends to invalidate all its cached routes. */
export const WITHDRAW_KIND = 'withdraw';

/** Bytes of a caller’s body that the bridge keeps, so that it need not come back from the host. */
export const MAX_STORED_BODY_BYTES = 256 * 1024;

/** `odd`: an event that is not part of a completion, or that reports an error. `left`: the caller disconnected. */
export const spliceEnd = z.object({
  how: z.enum(['done', 'odd', 'cut', 'silent', 'large', 'left']),
  text: z.string().optional(),
  /** For `large`: the unfinished events of all streams together were too large. */
  overloaded: z.boolean().optional(),
  /** The text closed a thinking block that it did not open. */
  unopened: z.boolean().optional(),
});
/** How a forwarded response ended, sent to its host on the forward's stream. `text`: data of the odd event. */
export type SpliceEnd = z.infer<typeof spliceEnd>;

/** Streams in which the bridge reports the usage of forwarded calls; answered when it is stored. */
export const USAGE_RECEIPTS_KIND = 'receipts';
export const usageReceipt = z.object({
  call: splicedCall,
  /** Milliseconds since 1970. */
  endedAt: z.number(),
  how: spliceEnd.shape.how,
  usage: usage.optional(),
  /** Number of generated characters. */
  chars: z.number().int().nonnegative(),
});
export type UsageReceipt = z.infer<typeof usageReceipt>;
/** Reports sent together. Each is validated separately. */
export const usageReceipts = z.array(z.unknown()).max(1000);

/** Streams in which the bridge asks how to complete a response over a cached route that failed: a `SpliceFailure`, answered with events. */
export const SPLICE_FAILURE_KIND = 'ended';
export const spliceFailure = z.object({ call: splicedCall, end: spliceEnd, wire: forwardRequest.shape.wire });
export type SpliceFailure = z.infer<typeof spliceFailure>;

type ResponseInputs = ConstructorParameters<typeof Response>;
// Sets instead of subclasses: a subclass would load all of Node's `fetch` into a bridge that may never use it.
const bypassResponses = new WeakSet<Response>();
const splicedResponses = new WeakSet<Response>();

/** Response whose body bypassed the host; resolves to the `SpliceEnd` when it has ended. */
export function createBypassResponse(...inputs: ResponseInputs): Response {
  const response = new Response(...inputs);
  bypassResponses.add(response);
  return response;
}
export const isBypassResponse = (response: Response): boolean => bypassResponses.has(response);

/** Response to a caller whose body bypassed the host. */
export function createSplicedResponse(...inputs: ResponseInputs): Response {
  const response = new Response(...inputs);
  splicedResponses.add(response);
  return response;
}
export const isSplicedResponse = (response: Response): boolean => splicedResponses.has(response);
