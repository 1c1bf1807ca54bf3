import { z } from '#shared/rpc/zod.ts';
import { desktopPart, desktopPicture, desktopWindows } from '#shared/rpc/methods/desktop.ts';

/** What the program beside the bridge is asked for, as its one argument in JSON. */
export const ask = z.discriminatedUnion('what', [
  z.object({ what: z.literal('picture'), ...desktopPart }),
  z.object({ what: z.literal('windows') }),
  z.object({ what: z.literal('check') }),
]);
export type Ask = z.infer<typeof ask>;

/** What it says, as JSON on its standard output. */
export const said = z.union([
  z.object({ error: z.object({ code: z.enum(['INVALID_PARAMS', 'INTERNAL_ERROR']), message: z.string() }) }),
  z.object({ picture: desktopPicture }),
  z.object({ windows: desktopWindows }),
  z.object({ problem: z.null() }),
]);
