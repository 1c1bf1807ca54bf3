import type { EncodedFormat } from '#shared/ports/audio-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Converts audio in this browser. */
export interface AudioConverter {
  /**
   * Converts an MP3 or WAV file in base64. Rejects with `RpcError`: `INVALID_PARAMS` if the browser can't encode the format, `INTERNAL_ERROR`
   * without an open page.
   */
  convert(audio: string, format: EncodedFormat, signal: AbortSignal): Promise<string>;
}

/** For environments without a browser. */
export const noAudioConverter: AudioConverter = {
  convert: () => Promise.reject(new RpcError('INTERNAL_ERROR', 'No browser is available to convert audio.')),
};
