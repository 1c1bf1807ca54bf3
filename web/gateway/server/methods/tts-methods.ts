import { speechPort } from '#shared/ports/speech-port.ts';
import type { ttsContracts } from '#shared/rpc/methods/tts-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Handlers } from '../dispatch.ts';

export const ttsMethods = ({ bridge }: { bridge: Bridge }): Handlers<typeof ttsContracts> => ({
  'tts.speak': async (params, { signal }) => ({
    ...(await bridge.call(speechPort, 'speech.speak', params, { signal })),
    mimeType: 'audio/mpeg',
  }),

  'tts.voices': async (_params, { signal }) => {
    const { voices } = await bridge.call(speechPort, 'speech.voices', {}, { signal });
    return { voices, count: voices.length };
  },
});
