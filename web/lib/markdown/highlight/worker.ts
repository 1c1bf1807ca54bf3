import type { Asked } from './run.ts';
import { runsOf } from './runs.ts';

/** Grammars are regular expressions that are slow for some code, so they run outside the page's thread. */
addEventListener('message', ({ data }: MessageEvent<Asked>) => postMessage(runsOf(data.code, data.language)));
