import type { HighlightRequest } from './syntax-run.ts';
import { computeRuns } from './compute-runs.ts';

/** Grammars are regular expressions that are slow for some code, so they run outside the page's thread. */
addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => postMessage(computeRuns(data.code, data.language)));
