import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import type { Provider } from '../../../providers/provider.ts';
import { ProviderError } from '../../../providers/provider.ts';
import type { Route } from '../../../providers/providers.ts';
import { canRelay, type RelayingProvider } from '../../../providers/relaying-provider.ts';
import type { HttpDeps } from '../http-deps.ts';
import { badRequest, HttpError, modelNotFound } from '../http-error.ts';
import { findAgentId, resolveRoute } from '../request-target.ts';

/** A task that only some providers support. */
export interface MediaTask {
  /** Verb phrase, as in "can’t create speech". */
  action: string;
  /** Hosted providers that support it, the best known first. */
  kinds: readonly ProviderKind[];
  /** Suggestion in errors: these providers, and an example model. */
  hint: string;
  /** Models in this browser support it too. */
  inBrowser?: boolean;
}

export const SPEECH_TASK: MediaTask = {
  action: 'create speech',
  kinds: ['openai', 'groq'],
  hint: 'Add OpenAI, Groq or another provider with `/audio/speech` in Models, and set `model` to a name such as `openai/gpt-4o-mini-tts`. For Perch’s own voices, set it to `perch/tts`.',
};
export const TRANSCRIPTION_TASK: MediaTask = {
  action: 'transcribe audio',
  kinds: ['openai', 'groq', 'mistral'],
  hint: 'Add OpenAI, Groq, Mistral or another provider with `/audio/transcriptions` in Models, and set `model` to a name such as `openai/gpt-4o-transcribe`. Or download a Whisper model into the browser in Models, and set it to a name such as `browser/onnx-community/whisper-base`.',
  inBrowser: true,
};
export const TRANSLATION_TASK: MediaTask = {
  action: 'translate audio',
  kinds: ['openai', 'groq'],
  hint: 'Add OpenAI, Groq or another provider with `/audio/translations` in Models, and set `model` to a name such as `openai/whisper-1`. Or download a Whisper model into the browser in Models, and set it to a name such as `browser/onnx-community/whisper-base`.',
  inBrowser: true,
};
export const IMAGES_TASK: MediaTask = {
  action: 'create images',
  kinds: ['openai', 'xai'],
  hint: 'Add OpenAI, Google, OpenRouter, xAI or another provider with `/images` in Models, and set `model` to a name such as `openai/gpt-image-1`.',
};

/**
 * Finds the provider for a task. A bare name that no provider lists goes to the first hosted provider that supports the task, as providers
 * hide such models in their lists, or to a model in this browser. Throws a 400 for an agent, and a 404 that names providers to add.
 */
export async function findMediaRoute(model: string, task: MediaTask, signal: AbortSignal, deps: HttpDeps): Promise<Route> {
  if (findAgentId(model, deps) !== undefined) throw badRequest(`Agents can’t ${task.action}. ${task.hint}`, 'model');
  try {
    return await resolveRoute(model, signal, deps);
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 404) throw error;
    const provider = deps.providers.findKind(task.kinds);
    const local = !provider && task.inBrowser && !model.includes('/') ? await deps.providers.findTranscriber(signal) : undefined;
    if (local) return local;
    if (!provider || model.includes('/')) throw modelNotFound(`No provider can ${task.action} with the model "${model}". ${task.hint}`);
    return { provider, model, key: `${provider.id}/${model}` };
  }
}

/** The provider if it has OpenAI's endpoints. Throws a 400 that names providers to add. */
export function requireRelay(provider: Provider, task: MediaTask): RelayingProvider {
  if (!canRelay(provider)) throw badRequest(`${provider.name} can’t ${task.action}. ${task.hint}`, 'model');
  return provider;
}

const MISSING_ENDPOINT_STATUSES = new Set([404, 405, 501]);

export const isMissingEndpoint = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && error.status !== undefined && MISSING_ENDPOINT_STATUSES.has(error.status);

/** Runs `work`; if the server lacks the endpoint, the error names providers to add. */
export async function withTaskHint<T>(task: MediaTask, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isMissingEndpoint(error) ? modelNotFound(`${error.message} ${task.hint}`) : error;
  }
}
