import { z } from '#shared/rpc/zod.ts';
import { captureArea, desktopPicture, desktopWindows } from '#shared/rpc/methods/desktop-contracts.ts';

/** Request to the screen capture program, its only argument, in JSON. */
export const captureRequest = z.discriminatedUnion('what', [
  z.object({ what: z.literal('picture'), ...captureArea }),
  z.object({ what: z.literal('windows') }),
  z.object({ what: z.literal('check') }),
]);
export type CaptureRequest = z.infer<typeof captureRequest>;

/** Its response in JSON on standard output. */
export const captureResponse = z.union([
  z.object({ error: z.object({ code: z.enum(['INVALID_PARAMS', 'INTERNAL_ERROR']), message: z.string() }) }),
  z.object({ picture: desktopPicture }),
  z.object({ windows: desktopWindows }),
  z.object({ problem: z.null() }),
]);
