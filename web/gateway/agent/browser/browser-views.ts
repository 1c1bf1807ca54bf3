import { toClause } from '#shared/clause.ts';
import { browserPort } from '#shared/ports/browser-port.ts';
import type { ParsedParams, ContractResult } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { browserViewContracts } from '#shared/rpc/methods/browser-view-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Caller } from '../../system/caller.ts';

type Methods = typeof browserViewContracts;

interface BrowserViewsDeps {
  bridge: Bridge;
  /** Tells the bridge what the browser may reach. */
  allow(signal: AbortSignal): Promise<unknown>;
}

/** Maximum number of views per connection: each is a stream of pictures. */
const MAX_VIEWS = 4;

interface BrowserView {
  id: string;
  connId: string;
  profile: string;
  stop: AbortController;
}

type Viewer = Pick<Caller, 'connId' | 'signal' | 'emit'>;

/** Live views of browsers: one for each connection and profile, which ends with the connection. */
export class BrowserViews {
  readonly #deps: BrowserViewsDeps;
  readonly #views = new Set<BrowserView>();

  constructor(deps: BrowserViewsDeps) {
    this.#deps = deps;
  }

  /** Resolves once the browser has started to send pictures. */
  async watch(params: ParsedParams<Methods['browser.watch']>, caller: Viewer): Promise<ContractResult<Methods['browser.watch']>> {
    const { profile, tabId, ...size } = params;
    const { connId, emit } = caller;
    this.#find(profile, connId)?.stop.abort(new RpcError('INTERNAL_ERROR', 'Replaced by another view'));
    if ([...this.#views].filter((each) => each.connId === connId).length >= MAX_VIEWS)
      throw new RpcError(
        'INVALID_PARAMS',
        `A connection can watch up to ${MAX_VIEWS} browsers. Call browser.unwatch to stop watching one.`,
      );
    const view: BrowserView = { id: crypto.randomUUID(), connId, profile, stop: new AbortController() };
    this.#views.add(view);
    const signal = AbortSignal.any([caller.signal, view.stop.signal]);
    signal.addEventListener('abort', () => this.#views.delete(view));
    const started = Promise.withResolvers<string | null>();
    let isViewing = false;
    const end = (cause: unknown): void => {
      this.#views.delete(view);
      started.reject(cause);
      const reason = cause instanceof RpcError ? toClause(cause.message) : 'The view failed';
      if (isViewing && !signal.aborted) emit({ event: 'browser.unwatched', payload: { profile, reason } });
    };
    const { bridge, allow } = this.#deps;
    allow(signal)
      .then(() =>
        bridge.call(
          browserPort,
          'browser.view',
          { ...size, viewId: view.id, profile, ...(tabId === undefined ? {} : { tabId }) },
          {
            signal,
            on: {
              'browser.viewing': ({ tabId: first }) => {
                isViewing = true;
                started.resolve(first);
              },
              'browser.downloaded': ({ download }) => {
                if (!signal.aborted) emit({ event: 'browser.downloaded', payload: { profile, download } });
              },
              'browser.frame': ({ viewId: _, ...frame }) => {
                if (!signal.aborted) emit({ event: 'browser.frame', payload: { profile, ...frame } });
              },
            },
          },
        ),
      )
      .then(
        ({ reason }) => end(new RpcError('INTERNAL_ERROR', reason)),
        (error: unknown) => end(error),
      );
    return { watching: true, profile, tabId: await started.promise };
  }

  async acknowledge({ profile, frame }: ParsedParams<Methods['browser.seen']>, { connId, signal }: Viewer): Promise<Record<string, never>> {
    const view = this.#find(profile, connId);
    // The view may have ended in the meantime.
    if (view) await this.#deps.bridge.call(browserPort, 'browser.viewed', { viewId: view.id, frame }, { signal });
    return {};
  }

  unwatch({ profile }: ParsedParams<Methods['browser.unwatch']>, { connId }: Viewer): ContractResult<Methods['browser.unwatch']> {
    this.#find(profile, connId)?.stop.abort(new RpcError('INTERNAL_ERROR', 'Stopped watching'));
    return { watching: false };
  }

  #find(profile: string, connId: string): BrowserView | undefined {
    return [...this.#views].find((each) => each.profile === profile && each.connId === connId);
  }
}
