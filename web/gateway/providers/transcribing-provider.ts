import type { Transcript, TranscriptRequest } from '#shared/ports/transcript.ts';
import type { Provider } from './provider.ts';

/** A provider of speech recognition models that Perch runs itself. */
export interface TranscribingProvider extends Provider {
  /** Rejects with `ProviderError`. */
  transcribe(model: string, request: TranscriptRequest, signal: AbortSignal): Promise<Transcript>;
  /** The ids of its speech recognition models. */
  listTranscribers(signal: AbortSignal): Promise<string[]>;
}

export function canTranscribe(provider: Provider): provider is TranscribingProvider {
  return 'transcribe' in provider && typeof provider.transcribe === 'function';
}
