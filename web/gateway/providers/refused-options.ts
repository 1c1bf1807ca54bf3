import type { GenerationOptions, ModelRequest } from './provider.ts';

type Body = Record<string, unknown>;

/** Body fields of an option, as dotted paths, and how a refusal mentions them. */
type OptionFields = Partial<Record<keyof GenerationOptions, { fields: readonly string[]; mention: RegExp }>>;

/** Refusals that will be repeated, whatever the conversation. */
const UNSUPPORTED = /support|unknown|unrecogni[sz]ed|unexpected|permitted|allowed|invalid|extra/i;

/** Options from settings that a provider's servers refuse: the request is sent without them. Others of the same model are not tried again. */
export class RefusedOptions {
  readonly #fields: OptionFields;
  readonly #refused = new Map<string, Set<string>>();

  constructor(fields: OptionFields) {
    this.#fields = fields;
  }

  /** The request without options that its model has refused before. */
  omitRefused(request: ModelRequest): ModelRequest {
    const refused = [...(this.#refused.get(request.model) ?? [])].filter((option) => request.ownOptions?.has(option));
    return refused.length === 0 ? request : { ...request, ...Object.fromEntries(refused.map((option) => [option, undefined])) };
  }

  /** The body without the option that the refusal is about; undefined if it is about something else. */
  adapt(request: ModelRequest, body: Body, refusal: string): Body | undefined {
    for (const [option, { fields, mention }] of Object.entries(this.#fields)) {
      if (!request.ownOptions?.has(option) || !mention.test(refusal)) continue;
      const present = fields.filter((field) => hasField(body, field.split('.')));
      if (present.length === 0) continue;
      if (UNSUPPORTED.test(refusal)) this.#refused.set(request.model, (this.#refused.get(request.model) ?? new Set()).add(option));
      request.onRefusedField?.(present[0] ?? option);
      return present.reduce((current, field) => withoutField(current, field.split('.')), body);
    }
    return undefined;
  }
}

const isRecord = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value);

function hasField(body: unknown, [name = '', ...rest]: readonly string[]): boolean {
  if (!isRecord(body) || body[name] === undefined) return false;
  return rest.length === 0 || hasField(body[name], rest);
}

/** Objects that become empty are removed too. */
function withoutField(body: Body, [name = '', ...rest]: readonly string[]): Body {
  const { [name]: value, ...others } = body;
  const inner = rest.length > 0 && isRecord(value) ? withoutField(value, rest) : {};
  return Object.keys(inner).length > 0 ? { ...body, [name]: inner } : others;
}
