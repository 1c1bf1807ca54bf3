import { toTrustedScriptUrl } from '#lib/trusted-script-url.ts';
import type { HighlightRequest, SyntaxRun } from './syntax-run.ts';
import url from './highlight-worker.ts?worker&url';

/** A grammar that takes longer is in an endless search. */
const TIMEOUT_MS = 5_000;

let highlightWorker: Worker | undefined;
let lastRequest: Promise<unknown> = Promise.resolve();

/**
 * The runs of `code`; null where its language is not known, or no colours could be found in time. One at a time, in the order of the calls. Never
 * rejects: code is as good without colours.
 */
export function highlightCode(request: HighlightRequest): Promise<readonly SyntaxRun[] | null> {
  const result = lastRequest.then(() => requestRuns(request));
  lastRequest = result;
  return result;
}

function requestRuns(request: HighlightRequest): Promise<readonly SyntaxRun[] | null> {
  return new Promise((resolve) => {
    const activeWorker = (highlightWorker ??= new Worker(toTrustedScriptUrl(url), { type: 'module', name: 'highlight' }));
    const giveUp = (): void => {
      activeWorker.terminate();
      highlightWorker = undefined;
      resolve(null);
    };
    const late = setTimeout(giveUp, TIMEOUT_MS);
    activeWorker.onmessage = ({ data }: MessageEvent<readonly SyntaxRun[] | null>) => {
      clearTimeout(late);
      resolve(data);
    };
    activeWorker.onerror = () => {
      clearTimeout(late);
      giveUp();
    };
    activeWorker.postMessage(request);
  });
}
