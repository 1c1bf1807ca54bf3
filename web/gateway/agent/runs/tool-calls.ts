import { RpcError } from '#shared/rpc/rpc-error.ts';
import { createCallId } from '../../providers/call-args.ts';
import { abortable } from '#shared/async/watchdog.ts';
import type { Picture } from '../tools/tool-registry.ts';
import { routeCall } from '../../providers/route-call.ts';
import type { RoutedCall } from '../../storage/records/routed-call.ts';
import type { Generation } from './generate.ts';

/** How long, in milliseconds, a tool may take to end after an abort: one that ignores it must not delay the end of the run. */
const ABORT_GRACE_MS = 2_000;

/** A call by a model. `unread`: why its arguments could not be parsed. */
export interface RequestedCall {
  call: RoutedCall;
  unread?: string;
}

/** Result of a call. */
export interface CallResult {
  call: RoutedCall;
  result: unknown;
  isError: boolean;
  pictures: readonly Picture[];
}

/**
 * Makes the ids of calls unique, also among `ids`, which contains earlier ones of the run and is updated: results refer to them, and
 * servers reject a branch with duplicate ids.
 */
export function withUniqueIds(calls: readonly RequestedCall[], ids: Set<string>): RequestedCall[] {
  return calls.map(({ call, unread }) => {
    const id = call.id === '' || ids.has(call.id) ? createCallId() : call.id;
    ids.add(id);
    return { call: { ...call, id }, ...(unread === undefined ? {} : { unread }) };
  });
}

/** The call with the name of the tool that runs. */
export const toRoutedCall = (requested: RequestedCall): RequestedCall =>
  requested.unread === undefined ? routeCall(requested.call) : requested;

type CallRunner = Pick<Generation, 'signal' | 'clock' | 'runTool'>;

/**
 * Runs calls in parallel, and yields each result as it arrives. After an abort, only results within the next two seconds. `isTruncated`: the
 * model's answer ended at its limit.
 */
export async function* runCalls(calls: readonly RequestedCall[], run: CallRunner, isTruncated: boolean): AsyncGenerator<CallResult> {
  const settled: (CallResult | undefined)[] = [];
  let wake = (): void => {};
  for (const requested of calls) {
    void runCall(run, requested, isTruncated).then((done) => {
      settled.push(done);
      wake();
    });
  }
  for (let index = 0; index < calls.length; index++) {
    if (settled.length <= index) await new Promise<void>((resolve) => (wake = resolve));
    const done = settled[index];
    if (done) yield done;
  }
}

/** A tool's failure becomes a result for the model. Undefined if the run ended first. Never rejects. */
async function runCall(run: CallRunner, { call, unread }: RequestedCall, isTruncated: boolean): Promise<CallResult | undefined> {
  if (unread !== undefined) {
    const message = isTruncated
      ? ' because the reply reached its length limit. Request less at once.'
      : '. Call it again with one JSON object.';
    return { call, result: { error: `The arguments of ${call.tool} ${unread}. It was not run${message}` }, isError: true, pictures: [] };
  }
  const pictures: Picture[] = [];
  const show = (picture: Picture): void => void pictures.push(picture);
  const timeout = new AbortController();
  let cancel = (): void => {};
  const onabort = (): void => {
    cancel = run.clock.after(ABORT_GRACE_MS, () => timeout.abort(run.signal.reason));
  };
  run.signal.addEventListener('abort', onabort, { once: true });
  if (run.signal.aborted) onabort();
  try {
    return { call, result: await abortable(run.runTool(call, run.signal, show), timeout.signal), isError: false, pictures };
  } catch (error) {
    if (run.signal.aborted) return undefined;
    const denied = error instanceof RpcError && error.code === 'AUTH_REQUIRED';
    const message = error instanceof Error ? error.message : String(error);
    const parameters = error instanceof RpcError ? error.extra.details?.['parameters'] : undefined;
    return {
      ...{ call, isError: true, pictures: [] },
      result: { error: message, ...(parameters === undefined ? {} : { parameters }), ...(denied ? { denied } : {}) },
    };
  } finally {
    run.signal.removeEventListener('abort', onabort);
    cancel();
  }
}
