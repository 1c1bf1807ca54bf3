import { toTrustedScriptUrl } from '../../connection/trusted-script-url.ts';
import type { HighlightRequest, SyntaxRun } from './syntax-run.ts';
import url from './highlight-worker.ts?worker&url';

/** Timeout of a request; a grammar that takes longer is in an endless search. */
const TIMEOUT_MS = 5_000;

let highlightWorker: Worker | undefined;
let lastRequest: Promise<unknown> = Promise.resolve();

/**
 * Computes the runs of code in a worker, one request at a time. Null if the language is unknown or highlighting takes too long. Never
 * rejects, as code is readable without colours.
 */
export function highlightCode(request: HighlightRequest): Promise<readonly SyntaxRun[] | null> {
  const result = lastRequest.then(() => requestRuns(request));
  lastRequest = result;
  return result;
}

function requestRuns(request: HighlightRequest): Promise<readonly SyntaxRun[] | null> {
  return new Promise((resolve) => {
    const activeWorker = (highlightWorker ??= new Worker(toTrustedScriptUrl(url), { type: 'module', name: 'highlight' }));
    const abandon = (): void => {
      activeWorker.terminate();
      highlightWorker = undefined;
      resolve(null);
    };
    const timer = setTimeout(abandon, TIMEOUT_MS);
    activeWorker.onmessage = ({ data }: MessageEvent<readonly SyntaxRun[] | null>) => {
      clearTimeout(timer);
      resolve(data);
    };
    activeWorker.onerror = () => {
      clearTimeout(timer);
      abandon();
    };
    activeWorker.postMessage(request);
  });
}
