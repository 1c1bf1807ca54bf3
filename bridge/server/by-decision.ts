import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { fetchOver } from '#shared/link/http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { type Ended, ENDED_KIND } from '#shared/link/splice.ts';
import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import { ask, type Asked, type InHand } from '../capabilities/asking.ts';
import { type GoodAnswer, isSuccess } from '../capabilities/good-answer.ts';
import { HeldAnswer } from '../capabilities/held-answer.ts';
import { WholeAnswer } from '../capabilities/whole-answer.ts';
import type { Receipts } from './receipts.ts';
import type { Decided, Standing } from './standing.ts';

/** The request to answer. */
interface Caller {
  requestId: string;
  response: ServerResponse;
}

interface DecisionDeps {
  /** Connection of the host that made the decision. */
  mux: Mux;
  receipts: Receipts;
  standing: Standing;
}

/** Milliseconds after which the upstream request is handed to the host. */
const PATIENCE_MS = 500;

/**
 * Sends a request as a host has decided. Resolves to the pending upstream response if it is slow or invalid, since only the host handles
 * that for this caller; undefined if the request failed.
 */
export async function answerByDecision(decided: Decided, caller: Caller, deps: DecisionDeps): Promise<InHand | 'answered' | undefined> {
  const { events, asking, wire } = decided;
  const { response } = caller;
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.once('close', leave);
  const coming = ask({ ...asking, signal: gone.signal });
  coming.catch(() => {});
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(late.resolve, PATIENCE_MS, 'late');
  const left = (asked: Promise<Asked>): InHand => ({ url: asking.url, asked, leave });
  try {
    const asked = await Promise.race([coming, late.promise]);
    // The host decides on timeouts.
    if (asked === 'late') return left(coming);
    const answer = isSuccess(asked.head) && (await (events ? HeldAnswer.begin(asked.body, events) : WholeAnswer.begin(asked.body, wire)));
    if (answer && !Array.isArray(answer)) {
      response.off('close', leave);
      if (response.destroyed) answer.leave();
      else give(answer, decided, caller, deps);
      return 'answered';
    }
    deps.standing.withdraw(deps.mux);
    return left(Promise.resolve({ ...asked, ...(answer ? { read: answer } : {}) }));
  } catch {
    // The host sends the request again and reports the error.
    deps.standing.withdraw(deps.mux);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function give(answer: GoodAnswer, decided: Decided, { requestId, response }: Caller, { mux, receipts, standing }: DecisionDeps): void {
  const leave = (): void => answer.leave();
  response.on('error', () => {});
  response.once('close', leave);
  response.writeHead(200, answer.headers);
  answer.pipe(response, ({ how, text, usage, chars, unopened }) => {
    response.off('close', leave);
    const inputTokens = usage ? 0 : estimateFor(JSON.stringify(decided.messages), familyOf(decided.call.model));
    const call = { ...decided.call, id: randomUUID(), requestId, inputTokens };
    receipts.add({ call, endedAt: Date.now(), how, chars, ...(usage ? { usage } : {}) });
    // Route the next request through the host, so that it notices.
    if (unopened) standing.withdraw(mux);
    if (how === 'done') return void response.end();
    if (how === 'left') return;
    standing.withdraw(mux);
    tellOfEnd(mux, { call, wire: decided.wire, end: { how, ...(text === undefined ? {} : { text }) } }).then(
      (told) => response.end(told),
      // Destroy the connection, so that the response does not look complete.
      () => response.destroy(),
    );
  });
}

/** Maximum time for a host to provide the final text. */
const TELL_MS = 5_000;

/** Asks the host for the text to append to an event stream that ended badly. Rejects if the host is gone. */
async function tellOfEnd(mux: Mux, given: Ended): Promise<string> {
  const request = { method: 'POST', body: JSON.stringify(given), headers: { 'content-type': 'application/json' } };
  const answer = await fetchOver(mux, { kind: ENDED_KIND }, { ...request, signal: AbortSignal.timeout(TELL_MS) });
  if (!answer.ok) throw new Error(`the host responded with ${answer.status}`);
  return answer.text();
}
