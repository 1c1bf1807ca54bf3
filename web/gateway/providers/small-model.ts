import type { ModelEntry } from '#shared/rpc/record-schemas.ts';

/** Words in the names of vendors' small chat models. */
const SMALL_MODELS = /(?:^|[-_./])(?:mini|nano|luna|haiku|flash|lite|small|instant|fast|ministral|(?:[1-9]|[12]\d|3[0-2])b)(?=$|[-_.:])/i;
/** Models of the same families for other purposes, and free variants, which have low rate limits and may train on prompts. */
const OTHER_PURPOSES =
  /audio|realtime|tts|transcri|speech|voice|image|video|embed|search|moderat|guard|safety|cod(?:e|ing|ex|estral)|live|ocr|math|robot|computer|research|translat|:free$/i;
/** Minimum context, in tokens, for small tasks. */
const MIN_CONTEXT = 32_000;

/**
 * The cheapest small chat model in the same list as `chat`; undefined if none is cheaper. `matchesByName`: the vendor is known, so a small model's
 * name is sufficient if its price is unknown.
 */
export function findSmallModel(
  chat: ModelEntry,
  listed: readonly ModelEntry[],
  { byName: matchesByName }: { byName: boolean },
): ModelEntry | undefined {
  const vendorPrefix = getVendorPrefix(chat);
  const limit = computePrice(chat) ?? (isSmall(chat) ? 0 : Infinity);
  const candidates = listed.filter(
    (model) =>
      model.key !== chat.key &&
      getVendorPrefix(model) === vendorPrefix &&
      isSmall(model) &&
      (model.context_window ?? MIN_CONTEXT) >= MIN_CONTEXT,
  );
  const priced = candidates
    .flatMap((model) => ({ model, price: computePrice(model) ?? Infinity }))
    .filter(({ price }) => price < limit)
    .sort((a, b) => a.price - b.price);
  if (priced[0]) return priced[0].model;
  return matchesByName && !isSmall(chat) ? candidates.find((model) => computePrice(model) === null) : undefined;
}

const isSmall = ({ model_id: id }: ModelEntry): boolean => SMALL_MODELS.test(id) && !OTHER_PURPOSES.test(id);

/** On a server with models of several vendors, the part of the id that names the vendor. */
const getVendorPrefix = ({ model_id: id }: ModelEntry): string => id.slice(0, id.lastIndexOf('/') + 1);

/** Price of three tokens of input and one of output, counted double for a thinking model, which writes more. */
function computePrice({ cost_per_1m_input: input, cost_per_1m_output: output, supports_thinking: isThinking }: ModelEntry): number | null {
  return input === null || output === null ? null : 3 * input + (isThinking ? 2 : 1) * output;
}
