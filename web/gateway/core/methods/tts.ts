import { speechPort } from '#shared/ports/speech.ts';
import type { tts } from '#shared/rpc/methods/tts.ts';
import type { Bridge } from '../bridge.ts';
import type { Handlers } from '../dispatch.ts';

export const ttsMethods = ({ bridge }: { bridge: Bridge }): Handlers<typeof tts> => ({
  'tts.speak': async (params, { signal }) => ({
    ...(await bridge.call(speechPort, 'speech.speak', params, { signal })),
    mimeType: 'audio/mpeg',
  }),

  'tts.voices': async (_params, { signal }) => {
    const { voices } = await bridge.call(speechPort, 'speech.voices', {}, { signal });
    return { voices, count: voices.length };
  },
});
