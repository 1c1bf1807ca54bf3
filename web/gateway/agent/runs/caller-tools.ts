import type { ModelRequest, ToolSpec } from '../../providers/provider.ts';
import type { RoutedCall } from '../../storage/records/routed-call.ts';

interface OfferedTools {
  tools: ToolSpec[];
  deferred: ToolSpec[];
}

/** Result of a call if the run continues without the caller. */
export const NOT_RUN = 'Not run, because other tools were called at the same time. Call it again without them.';

/** Tools of an API client that calls an agent. A step that calls only these ends the run, and the client runs the calls. */
export class CallerTools {
  readonly #tools: ReadonlyMap<string, ToolSpec>;
  #step: readonly RoutedCall[] = [];
  #recorded: RoutedCall[] = [];

  constructor(tools: readonly ToolSpec[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** The agent's tools and these, which replace others of the same name. A forced choice offers only these. */
  addTo({ tools, deferred }: OfferedTools, choice: ModelRequest['toolChoice']): OfferedTools {
    if (this.#tools.size > 0 && choice !== undefined && choice !== 'auto' && choice !== 'none')
      return { tools: [...this.#tools.values()], deferred: [] };
    const others = (list: ToolSpec[]): ToolSpec[] => list.filter(({ name }) => !this.#tools.has(name));
    return { tools: [...others(tools), ...this.#tools.values()], deferred: others(deferred) };
  }

  has({ tool }: RoutedCall): boolean {
    return this.#tools.has(tool);
  }

  beginStep(calls: readonly RoutedCall[]): void {
    this.#step = calls;
    this.#recorded = [];
  }

  /** Records a call for the caller. Returns the result that the model receives if the run continues. */
  record(call: RoutedCall): string {
    this.#recorded.push(call);
    return NOT_RUN;
  }

  /** Calls for the caller to run; empty if the step has other calls too. */
  get calls(): readonly RoutedCall[] {
    return this.#recorded.length === this.#step.length ? this.#step : [];
  }
}
