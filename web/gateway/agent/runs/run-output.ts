import type { AnyEvent } from '#shared/rpc/events.ts';
import type { RecalledMemory, Usage } from '#shared/rpc/record-schemas.ts';
import type { Picture } from '../tools/tool-registry.ts';
import type { RunTaint } from '../trust/run-taint.ts';
import { getQuotedText } from '../trust/verbatim-urls.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import type { GenerationEvent, ModelUsage, toResultContent } from './generate.ts';
import { ReplyFiles } from './reply-files.ts';
import { RunSources, type SettledText } from './run-sources.ts';
import type { RunIds, RunRequest, RunsDeps } from './run-types.ts';
import { RunTranscript } from './run-transcript.ts';
import { StepMessages } from './step-messages.ts';
import { VisibleText } from './visible-text.ts';

interface RunOutputOptions {
  sessionKey: string;
  ids: RunIds;
  request: Pick<RunRequest, 'onOutput' | 'onend'>;
  taint: RunTaint;
  deps: Pick<RunsDeps, 'vault' | 'clock' | 'fault'>;
  emit: (event: AnyEvent) => void;
  /** Receives the usage of the models. */
  shares: ModelUsage[];
}

/** Output of a run so far: text, steps, files, and the usage of its models. */
export class RunOutput {
  /** Key of the answering model: the chosen one, or the fallback that has taken over. */
  model = '';
  /** Usage of the models so far. */
  readonly shares: ModelUsage[];
  /** Usage of the whole generation, once it has ended. */
  usage: Usage | undefined;
  /** Tools of a step are running, or about to. */
  isRunningTools = false;
  /** Memories recalled for the message. */
  recalled: RecalledMemory[] | undefined;
  readonly files = new ReplyFiles();
  readonly sources = new RunSources();
  readonly transcript: RunTranscript;
  /** Messages of complete steps: tool calls and their results. */
  readonly steps: StepMessages;
  readonly #options: RunOutputOptions;
  #contextTokens: number | undefined;
  #hasRefused = false;
  /** The text that API clients receive. */
  readonly #visible = new VisibleText(this.sources);

  constructor(options: RunOutputOptions) {
    const { sessionKey, ids, taint, deps, emit, shares } = options;
    const now = (): number => deps.clock.now();
    this.#options = options;
    this.shares = shares;
    this.transcript = new RunTranscript({ ids, emit, now });
    this.steps = new StepMessages({ sessionKey, runId: ids.runId, now, sources: () => taint.sources });
  }

  /** Adds an event of the generation that answers `user`. */
  async apply(event: GenerationEvent, user: MessageRecord, toContent: typeof toResultContent): Promise<void> {
    const { request, taint, deps } = this.#options;
    if (event.type !== 'reasoning') this.transcript.pauseReasoning();
    switch (event.type) {
      case 'text':
        this.transcript.addText(event.text);
        if (request.onOutput) this.#sendVisible(await this.#visible.push(event.text));
        break;
      case 'refusal':
        // In a chat, a refusal becomes text after the previous text.
        this.transcript.addText(this.#hasRefused || this.transcript.stepText === '' ? event.text : `\n\n${event.text}`);
        this.#hasRefused = true;
        request.onOutput?.(event);
        break;
      case 'reasoning':
        this.transcript.addReasoning(event.text);
        request.onOutput?.(event);
        break;
      case 'picture':
        this.#addPicture(event.picture);
        break;
      case 'model':
        this.model = event.key;
        // Previous thoughts are from another model.
        this.transcript.switchModel();
        break;
      case 'calling':
        this.transcript.setPendingTools(event.tools);
        break;
      case 'step':
        this.#sendVisible(this.#visible.end());
        if (event.calls.length > 0) this.#visible.nextStep();
        this.steps.addStep(user, {
          ...(event.calls.length > 0 ? await this.settle(event.text, user) : { content: event.text }),
          ...{ toolCalls: event.calls, model: this.model },
          ...this.transcript.reasoning,
          ...(event.kept ? { providerState: event.kept } : {}),
        });
        this.isRunningTools = event.calls.length > 0;
        if (this.isRunningTools) this.transcript.nextStep();
        // Before its tools have effects that the next host would not know of.
        await this.#saveStep();
        this.saveProgress();
        break;
      case 'tool_call':
        this.transcript.addCall(event.call);
        break;
      case 'tool_result': {
        const { call, result, pictures, isError } = event;
        const content = typeof result === 'string' ? result : JSON.stringify(result);
        taint.addText(getQuotedText(call, content));
        const read = this.sources.getRead(call.id);
        if (read.length > 0) this.transcript.addSources(read);
        const stored = this.steps.addResult(call.id, toContent(result, pictures), read);
        this.transcript.addResult(call, { result, content, isError });
        if (stored) await deps.vault.runs.saveResult(stored).catch(() => {});
        this.saveProgress();
        break;
      }
      case 'end':
        this.#sendVisible(this.#visible.end());
        this.usage = event.usage;
        this.#contextTokens = event.contextTokens;
        request.onend?.(event);
    }
  }

  /** Removes the model's markers from a text of the run, and finds the sources of its claims. */
  settle(content: string, user: MessageRecord): Promise<SettledText> {
    return this.sources.settle(content, toPlainText(user.content));
  }

  /** Offset of the last step in the text that API clients have received. */
  get visibleStepStart(): number {
    return this.#visible.stepStart;
  }

  /** All messages of the run, ending with its reply to `user`. `startedAt`: in milliseconds since the Unix epoch. */
  buildMessages(
    user: MessageRecord,
    startedAt: number,
    fields: Parameters<StepMessages['withReply']>[1],
  ): ReturnType<StepMessages['withReply']> {
    const { taint, deps } = this.#options;
    const quotedUrls = taint.isTainted ? taint.findQuotedUrls(toPlainText(fields.content)) : [];
    return this.steps.withReply(user, {
      ...(quotedUrls.length > 0 ? { quotedUrls } : {}),
      model: this.model,
      elapsedMs: deps.clock.now() - startedAt,
      ...(this.#contextTokens === undefined ? {} : { contextTokens: this.#contextTokens }),
      ...(this.recalled ? { recalled: this.recalled } : {}),
      ...this.transcript.reasoning,
      ...fields,
      ...this.files.toContent(fields.content),
    });
  }

  /** Shares the run's outside sources and steps, in case another host has to end it. */
  saveProgress(): void {
    const { deps, ids } = this.#options;
    const progress = this.steps.getProgress(this.transcript.text.length - this.transcript.stepText.length);
    deps.vault.runs.saveProgress(ids.runId, progress).catch(() => {});
  }

  #sendVisible(text: string): void {
    if (text !== '') this.#options.request.onOutput?.({ type: 'text', text });
  }

  /** Saves the current step to disk, in case the host dies; its results follow one by one. */
  async #saveStep(): Promise<void> {
    const step = this.steps.currentStep;
    // As with the text, a failing store is reported at the run's end.
    if (step) await this.#options.deps.vault.runs.saveStep(step).catch(() => {});
  }

  /** An image that does not fit is mentioned in the text. */
  #addPicture({ mimeType, data }: Picture): void {
    const [, extension = 'png'] = /^image\/(\w+)/.exec(mimeType) ?? [];
    try {
      this.files.add({ filename: `picture.${extension}`, mimeType, data, size: Math.floor((data.length * 3) / 4) });
    } catch (error) {
      this.transcript.addText(`\n\n[${this.#options.deps.fault(error).message}]`);
    }
  }
}
