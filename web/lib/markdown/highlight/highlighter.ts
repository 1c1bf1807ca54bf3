import { scriptURL } from '#lib/trusted.ts';
import type { Asked, Run } from './run.ts';
import url from './worker.ts?worker&url';

/** A grammar that takes longer is in an endless search. */
const MOST_MS = 5_000;

let worker: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * The runs of `code`; null where its language is not known, or no colours could be found in time. One at a time, in the order of the calls. Never
 * rejects: code is as good without colours.
 */
export function highlight(asked: Asked): Promise<readonly Run[] | null> {
  const answer = last.then(() => ask(asked));
  last = answer;
  return answer;
}

function ask(asked: Asked): Promise<readonly Run[] | null> {
  return new Promise((resolve) => {
    const asking = (worker ??= new Worker(scriptURL(url), { type: 'module', name: 'highlight' }));
    const giveUp = (): void => {
      asking.terminate();
      worker = undefined;
      resolve(null);
    };
    const late = setTimeout(giveUp, MOST_MS);
    asking.onmessage = ({ data }: MessageEvent<readonly Run[] | null>) => {
      clearTimeout(late);
      resolve(data);
    };
    asking.onerror = () => {
      clearTimeout(late);
      giveUp();
    };
    asking.postMessage(asked);
  });
}
