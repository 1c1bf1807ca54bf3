import { isZip } from '#shared/import/import-files.ts';
import { type ImportedMemory, parseMemoryList } from '#shared/import/memory-list.ts';
import { readImport, toMemoryReading } from '#shared/import/read-import.ts';
import { ImportError } from '#shared/import/import-error.ts';
import { type ImportResult, writeImport } from '#shared/import/write-import.ts';
import { getRefusalText } from '#app/files/refusal-text.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';

/** Source of pasted lists, as labels name it. */
const PASTED_SOURCE = 'memory list';

/** Memories of other products: a pasted list or a file is shown first, then the chosen ones are added. */
export class MemoryImport {
  readonly agentId: string;
  /** The pasted list. */
  text = $state('');
  /** Memories of a zip file, instead of the text. */
  #zipMemories = $state.raw<readonly ImportedMemory[] | null>(null);
  readonly parsed = $derived(this.#zipMemories ?? parseMemoryList(this.text));
  /** Texts that the person deselected. */
  omitted = $state.raw<ReadonlySet<string>>(new Set());
  /** The person has read the memories: they need no review. */
  isReviewed = $state(false);
  working = $state(false);
  result = $state.raw<ImportResult | null>(null);
  problem = $state<Problem | null>(null);
  readonly selectedItems = $derived(this.parsed.filter(({ text }) => !this.omitted.has(text)));

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  toggle(text: string): void {
    const omitted = new Set(this.omitted);
    if (!omitted.delete(text)) omitted.add(text);
    this.omitted = omitted;
  }

  paste(text: string): void {
    [this.text, this.#zipMemories, this.result, this.problem] = [text, null, null, null];
  }

  async read(file: File): Promise<void> {
    try {
      if (await isZip(file)) {
        const { memories } = await readImport([{ path: file.name, blob: file }]);
        this.paste('');
        this.#zipMemories = memories.map(({ memory }) => memory);
        if (memories.length === 0) this.problem = { message: m.memory_import_none(), code: null };
      } else this.paste(new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()));
    } catch (error) {
      const refusal = error instanceof ImportError ? error.refusal : error instanceof TypeError ? 'notUtf8' : undefined;
      this.problem =
        refusal === undefined
          ? toProblem(error, m.memory_doing_import())
          : { message: m.sessions_import_not({ file: file.name, why: getRefusalText(refusal) }), code: null };
    }
  }

  async run(): Promise<void> {
    if (this.working || this.selectedItems.length === 0) return;
    [this.working, this.problem] = [true, null];
    const reading = toMemoryReading(this.selectedItems, PASTED_SOURCE);
    const { agentId, isReviewed } = this;
    const result = await writeImport(reading, (method, params) => gateway.call(method, params), { agentId, isReviewed });
    const [first] = result.problems;
    this.problem = first ? toProblem(first.error, m.memory_doing_import()) : null;
    [this.working, this.result] = [false, result];
  }
}
