import type { Asked } from './run.ts';
import { runsOf } from './runs.ts';

/** Grammars are regular expressions, and some code makes them slow: they run where nobody waits. */
addEventListener('message', ({ data }: MessageEvent<Asked>) => postMessage(runsOf(data.code, data.language)));
