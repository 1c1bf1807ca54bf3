import type { speechPort, SpeechResult } from '#shared/ports/speech-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { DEFAULT_VOICE, SYSTEM_VOICE_ID_PATTERN } from '#shared/voice-id.ts';
import type { PortHandlers } from '../serve-port.ts';
import { NeuralVoiceError, NeuralVoices } from './neural-voices.ts';
import { speakWithSystem, speakWav, type SystemEngine, listSystemVoices } from './system-engines.ts';

const ENGINE = 'on Debian: apt-get install espeak-ng';
const INSTALL_HINT = `Connect to the internet, or install a speech engine (${ENGINE}).`;

interface SpeechDeps {
  neural?: NeuralVoices;
  engines: readonly SystemEngine[];
}

/** Speech handlers: online neural voices, else the system's own engine. */
export function createSpeechHandlers({
  neural = new NeuralVoices(),
  engines,
}: SpeechDeps): PortHandlers<typeof speechPort.calls, typeof speechPort.events> {
  return {
    'speech.speak': async ({ text, voice = DEFAULT_VOICE, rate = '+0%', pitch = '+0Hz', format }, { signal }) => {
      const utterance = { text, voice, rate, pitch };
      const isSystem = SYSTEM_VOICE_ID_PATTERN.test(voice);
      if (isSystem && !(await listSystemVoices(engines, signal)).some(({ id }) => id === voice))
        throw new RpcError('INVALID_PARAMS', `voice: this computer has no voice "${voice}". tts.voices lists those that it has.`);
      if (format === 'wav') {
        const found = await speakWav(engines, utterance, signal);
        if (!found)
          throw new RpcError('INTERNAL_ERROR', `WAV needs a speech engine on this computer (${ENGINE}). Use MP3, or install one.`);
        return toSpeech(found.wav, found.voice, 'audio/wav');
      }
      if (isSystem) {
        const found = await speakWithSystem(engines, utterance, signal);
        if (found) return toSpeech(found.mp3, found.voice);
      }
      try {
        return toSpeech(await neural.speak(utterance, signal), voice);
      } catch (error) {
        if (!(error instanceof NeuralVoiceError)) throw error;
        const found = await speakWithSystem(engines, utterance, signal);
        if (!found) throw new RpcError('INTERNAL_ERROR', `No voice is available: ${error.message}. ${INSTALL_HINT}`, {}, { cause: error });
        return toSpeech(found.mp3, found.voice);
      }
    },

    'speech.voices': async (_params, { signal }) => {
      const [network, system] = await Promise.all([
        neural.voices(signal).catch((error: unknown) => {
          if (error instanceof NeuralVoiceError) return [];
          throw error;
        }),
        listSystemVoices(engines, signal),
      ]);
      return { voices: [...network, ...system] };
    },
  };
}

const toSpeech = (audio: Buffer, voice: string, mimeType: SpeechResult['mimeType'] = 'audio/mpeg'): SpeechResult => ({
  ...{ audio: audio.toString('base64'), mimeType, sizeBytes: audio.length, voice },
});
