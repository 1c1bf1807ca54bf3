import type { ModelEntry } from '#shared/rpc/record-schemas.ts';

/** Models that answer no chat. */
const OTHER_PURPOSE =
  /embed|whisper|transcri|tts|audio|speech|realtime|image|dall-?e|imagen|veo|moderation|guard|rerank|search|ocr|babbage|davinci|computer-use/i;
/** Families for everyday chat, best first: capable, but not the dearest of their vendor. */
const FAMILIES = [
  /claude.*sonnet/i,
  /gpt-5(?!.*(nano|mini|codex|chat|pro))/i,
  /gemini-[\d.]+-pro/i,
  /grok-\d+(?!.*(mini|fast|code|vision))/i,
  /mistral-large/i,
  /deepseek-(chat|v\d)/i,
  /claude.*(opus|haiku)/i,
  /gpt-(5|4\.1|4o)(?!.*(nano|codex))/i,
  /gemini-[\d.]+-flash(?!.*lite)/i,
  /(llama|qwen).*(70b|72b|235b|maverick)/i,
  /qwen3|llama-?[34]|gemma-?3|mistral|phi-?4/i,
];

/** The model of a newly connected provider that becomes the default; undefined if none can chat. */
export function chooseBestModel<M extends Pick<ModelEntry, 'model_id' | 'supports_tools' | 'context_window'>>(
  models: readonly M[],
): M | undefined {
  const getFamily = ({ model_id }: M): number => {
    const family = FAMILIES.findIndex((pattern) => pattern.test(model_id));
    return family === -1 ? FAMILIES.length : family;
  };
  return models
    .filter(({ model_id }) => !OTHER_PURPOSE.test(model_id))
    .toSorted(
      (a, b) =>
        getFamily(a) - getFamily(b) ||
        Number(b.supports_tools) - Number(a.supports_tools) ||
        // Newer versions have higher numbers. Without a known family, the size of the context tells more.
        (getFamily(a) === FAMILIES.length
          ? (b.context_window ?? 0) - (a.context_window ?? 0)
          : b.model_id.localeCompare(a.model_id, 'en', { numeric: true })),
    )[0];
}
