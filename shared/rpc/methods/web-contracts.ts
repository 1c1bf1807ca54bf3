import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

/** Content of the public web for a person to see. */
export const webContracts = {
  'web.picture': defineMethod({
    params: z.strictObject({ url: z.string().trim().min(1).max(4096) }),
    result: z.object({ url: z.string(), mimeType: z.string(), content: z.string() }),
    docs: 'Fetches an image (PNG, JPEG, GIF, WebP or AVIF, up to 5 MB) from the public web through the bridge and returns it base64-encoded. `url` is the final URL after redirects.',
    policy: { scope: 'write' },
  }),
};
