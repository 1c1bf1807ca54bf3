import { z } from '#shared/rpc/zod.ts';
import { desktopPart, desktopPicture, desktopWindows } from '#shared/rpc/methods/desktop.ts';

/** Request to the screen capture program, its only argument, in JSON. */
export const ask = z.discriminatedUnion('what', [
  z.object({ what: z.literal('picture'), ...desktopPart }),
  z.object({ what: z.literal('windows') }),
  z.object({ what: z.literal('check') }),
]);
export type Ask = z.infer<typeof ask>;

/** Its response in JSON on standard output. */
export const said = z.union([
  z.object({ error: z.object({ code: z.enum(['INVALID_PARAMS', 'INTERNAL_ERROR']), message: z.string() }) }),
  z.object({ picture: desktopPicture }),
  z.object({ windows: desktopWindows }),
  z.object({ problem: z.null() }),
]);
