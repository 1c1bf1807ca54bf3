import { toClause } from '#shared/clause.ts';
import { browserPort } from '#shared/ports/browser.ts';
import type { ParsedOf, ResultOf } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { browserView } from '#shared/rpc/methods/browser-view.ts';
import type { Bridge } from './bridge.ts';
import type { Caller } from './dispatch.ts';

type Methods = typeof browserView;

export interface BrowserViewsDeps {
  bridge: Bridge;
  /** Tells the bridge what the browser may reach. */
  allowed(signal: AbortSignal): Promise<unknown>;
}

/** Maximum number of views per connection: each is a stream of pictures. */
const MAX_VIEWS = 4;

interface View {
  id: string;
  connId: string;
  profile: string;
  stop: AbortController;
}

type Viewer = Pick<Caller, 'connId' | 'signal' | 'tell'>;

/** Live views of browsers: one for each connection and profile, which ends with the connection. */
export class BrowserViews {
  readonly #deps: BrowserViewsDeps;
  readonly #views = new Set<View>();

  constructor(deps: BrowserViewsDeps) {
    this.#deps = deps;
  }

  /** Resolves once the browser has started to send pictures. */
  async watch(params: ParsedOf<Methods['browser.watch']>, caller: Viewer): Promise<ResultOf<Methods['browser.watch']>> {
    const { profile, tabId, ...size } = params;
    const { connId, tell } = caller;
    this.#find(profile, connId)?.stop.abort(new RpcError('INTERNAL_ERROR', 'Replaced by another view'));
    if ([...this.#views].filter((each) => each.connId === connId).length >= MAX_VIEWS)
      throw new RpcError(
        'INVALID_PARAMS',
        `A connection can watch up to ${MAX_VIEWS} browsers. Call browser.unwatch to stop watching one.`,
      );
    const view: View = { id: crypto.randomUUID(), connId, profile, stop: new AbortController() };
    this.#views.add(view);
    const signal = AbortSignal.any([caller.signal, view.stop.signal]);
    signal.addEventListener('abort', () => this.#views.delete(view));
    const began = Promise.withResolvers<string | null>();
    let shown = false;
    const over = (why: unknown): void => {
      this.#views.delete(view);
      began.reject(why);
      const reason = why instanceof RpcError ? toClause(why.message) : 'The view failed';
      if (shown && !signal.aborted) tell({ event: 'browser.unwatched', payload: { profile, reason } });
    };
    const { bridge, allowed } = this.#deps;
    allowed(signal)
      .then(() =>
        bridge.call(
          browserPort,
          'browser.view',
          { ...size, viewId: view.id, profile, ...(tabId === undefined ? {} : { tabId }) },
          {
            signal,
            on: {
              'browser.viewing': ({ tabId: first }) => {
                shown = true;
                began.resolve(first);
              },
              'browser.downloaded': ({ download }) => {
                if (!signal.aborted) tell({ event: 'browser.downloaded', payload: { profile, download } });
              },
              'browser.frame': ({ viewId: _, ...frame }) => {
                if (!signal.aborted) tell({ event: 'browser.frame', payload: { profile, ...frame } });
              },
            },
          },
        ),
      )
      .then(
        ({ reason }) => over(new RpcError('INTERNAL_ERROR', reason)),
        (error: unknown) => over(error),
      );
    return { watching: true, profile, tabId: await began.promise };
  }

  async seen({ profile, frame }: ParsedOf<Methods['browser.seen']>, { connId, signal }: Viewer): Promise<Record<string, never>> {
    const view = this.#find(profile, connId);
    // The view may have ended in the meantime.
    if (view) await this.#deps.bridge.call(browserPort, 'browser.viewed', { viewId: view.id, frame }, { signal });
    return {};
  }

  unwatch({ profile }: ParsedOf<Methods['browser.unwatch']>, { connId }: Viewer): ResultOf<Methods['browser.unwatch']> {
    this.#find(profile, connId)?.stop.abort(new RpcError('INTERNAL_ERROR', 'Stopped watching'));
    return { watching: false };
  }

  #find(profile: string, connId: string): View | undefined {
    return [...this.#views].find((each) => each.profile === profile && each.connId === connId);
  }
}
