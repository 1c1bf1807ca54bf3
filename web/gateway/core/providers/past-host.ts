import { glance } from '#shared/http/completion-watch.ts';
import { type SpliceEnd, spliceEnd } from '#shared/link/splice.ts';
import { brokeOff, readChunk, tooLarge, wentSilent } from './chunk.ts';
import { streamFault } from './openai-errors.ts';

/** What went wrong in an answer that was spliced, once it is over; undefined where it is whole. Rejects where the bridge does not tell. */
export async function faultOf(response: Response, provider: string, idleMs: number): Promise<unknown> {
  return faultOfEnd(await readSpliceEnd(response), provider, idleMs);
}

/** How an answer ended that the bridge has passed on, once it is over. */
export const readSpliceEnd = async (response: Response): Promise<SpliceEnd> => spliceEnd.parse(await response.json());

export function faultOfEnd({ how, text = '' }: SpliceEnd, provider: string, idleMs: number): unknown {
  switch (how) {
    case 'done':
      return undefined;
    case 'silent':
      return wentSilent(provider, idleMs);
    case 'large':
      return tooLarge(provider);
    case 'odd':
      try {
        readChunk(provider, text, { schema: glance, fault: streamFault });
      } catch (error) {
        return error;
      }
  }
  return brokeOff(provider);
}
