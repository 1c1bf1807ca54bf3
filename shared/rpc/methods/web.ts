import { call } from '../contract.ts';
import { z } from '../zod.ts';

/** What a person asks to see of the web; ours, beside the interface document's. */
export const web = {
  'web.picture': call({
    params: z.strictObject({ url: z.string().trim().min(1).max(4096) }),
    result: z.object({ url: z.string(), mimeType: z.string(), content: z.string() }),
    docs: 'Fetches a picture (PNG, JPEG, GIF, WebP, AVIF; 5 MB at most) of the public web by the bridge, as base64. `url` is where the redirects led.',
    policy: { scope: 'write' },
  }),
};
