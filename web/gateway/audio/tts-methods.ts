import { speechPort } from '#shared/ports/speech-port.ts';
import { ttsContracts } from '#shared/rpc/methods/tts-contracts.ts';
import type { Bridge } from '../ports/bridge-interface.ts';
import { defineMethods } from '../system/methods.ts';

export const ttsMethods = defineMethods(ttsContracts)(({ bridge }: { bridge: Bridge }) => ({
  'tts.speak': async (params, { signal }) => ({
    ...(await bridge.call(speechPort, 'speech.speak', params, { signal })),
    mimeType: 'audio/mpeg',
  }),

  'tts.voices': async (_params, { signal }) => {
    const { voices } = await bridge.call(speechPort, 'speech.voices', {}, { signal });
    return { voices, count: voices.length };
  },
}));
