import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { readSetting } from '#app/state/read-setting.ts';

/** Defaults of the memory of all agents. */
class MemorySettings {
  isLoaded = $state(false);
  /** Whether memories are searched before each reply. */
  isRecalled = $state(true);
  /** Whether each past day is summarised. */
  isSummarised = $state(false);
  /** Embedding model for search by meaning; empty for search by words only. */
  embeddingModel = $state('');
  problem = $state.raw<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const [recall, summaries, model] = await Promise.all([
        readSetting('memory.recall.enabled'),
        readSetting('memory.daily_summaries.enabled'),
        readSetting('memory.embeddings.model'),
      ]);
      this.isRecalled = recall !== false;
      this.isSummarised = summaries === true;
      this.embeddingModel = typeof model === 'string' ? model : '';
      this.problem = null;
      this.isLoaded = true;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.settings_doing_read_memory());
    }
  }

  async setRecalled(enabled: boolean): Promise<void> {
    await this.#patch({ recall: { enabled } });
    this.isRecalled = enabled;
  }

  async setSummarised(enabled: boolean): Promise<void> {
    await this.#patch({ daily_summaries: { enabled } });
    this.isSummarised = enabled;
  }

  /** Rejects if the gateway refuses, for example an unknown model. */
  async setEmbeddingModel(model: string): Promise<void> {
    await this.#patch({ embeddings: { model: model === '' ? null : model } });
    this.embeddingModel = model;
  }

  async #patch(memory: Record<string, unknown>): Promise<void> {
    await gateway.call('config.patch', { patch: { memory } });
  }
}

export const memorySettings = new MemorySettings();
