/** Kinds of files that readers convert to text. */
export type DocumentKind = 'pdf' | 'docx' | 'xlsx' | 'pptx' | 'html' | 'text';

/** Kinds of files that can be split into passages: those of readers, and kinds of text with a structure of their own. */
export type PassageKind = DocumentKind | 'markdown' | 'code' | 'table' | 'json' | 'subtitles' | 'email' | 'epub' | 'picture';

type KindTable<K> = readonly (readonly [RegExp, K])[];

const OOXML_PREFIX = 'application/vnd.openxmlformats-officedocument.';
const MIME_TYPE_KINDS: KindTable<DocumentKind> = [
  [/^application\/(x-)?pdf\b/, 'pdf'],
  [new RegExp(`^${OOXML_PREFIX}wordprocessingml\\.|^application/vnd\\.ms-word\\.document\\.macro`, 'i'), 'docx'],
  [new RegExp(`^${OOXML_PREFIX}spreadsheetml\\.|^application/vnd\\.ms-excel\\.sheet\\.macro`, 'i'), 'xlsx'],
  [new RegExp(`^${OOXML_PREFIX}presentationml\\.|^application/vnd\\.ms-powerpoint\\.\\w+\\.macro`, 'i'), 'pptx'],
  [/^(text\/html|application\/xhtml\+xml)\b/, 'html'],
  [/^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql|x-ndjson)\b)|\+(json|xml)\b/, 'text'],
];
const EXTENSION_KINDS: KindTable<DocumentKind> = [
  [/\.pdf$/i, 'pdf'],
  [/\.(docx|docm|dotx)$/i, 'docx'],
  [/\.(xlsx|xlsm|xltx)$/i, 'xlsx'],
  [/\.(pptx|pptm|ppsx|potx)$/i, 'pptx'],
  [/\.(html?|xhtml)$/i, 'html'],
  [/\.(txt|md|markdown|csv|tsv|json|jsonl|ndjson|xml|ya?ml|toml|ini|log|sql|srt|vtt|tex)$/i, 'text'],
];

/** Files that readers take as plain text or not at all, by name. */
const STRUCTURED_EXTENSIONS: KindTable<PassageKind> = [
  [/\.(md|mdx|markdown|mdown|qmd|rmd)$/i, 'markdown'],
  [/\.(csv|tsv)$/i, 'table'],
  [/\.(json|jsonl|ndjson|json5|geojson|ipynb)$/i, 'json'],
  [/\.(srt|vtt)$/i, 'subtitles'],
  [/\.eml$/i, 'email'],
  [/\.epub$/i, 'epub'],
  [/\.(png|jpe?g|gif|webp|avif|bmp)$/i, 'picture'],
  [
    /\.([cm]?[jt]sx?|svelte|vue|astro|py|pyi|rb|rs|go|java|kt|kts|scala|groovy|clj[cs]?|c|h|cc|cpp|cxx|hpp|hh|m|mm|cs|fs|swift|dart|php|pl|pm|lua|r|jl|ex|exs|erl|hs|ml|mli|nim|zig|v|sv|vhdl?|asm|s|f90|pas|vb|sh|bash|zsh|fish|ps1|bat|sql|graphql|gql|proto|css|scss|sass|less|xml|xsd|xsl|ya?ml|toml|ini|cfg|conf|properties|gradle|cmake|tf|hcl|nix|tex|bib)$/i,
    'code',
  ],
  [/(^|\/)(makefile|dockerfile|containerfile|justfile|gemfile|rakefile|vagrantfile|jenkinsfile|cmakelists\.txt)$/i, 'code'],
  [/\.(txt|text|log|rst|adoc|asciidoc|org|diff|patch)$/i, 'text'],
  [/(^|\/)(readme|license|licence|copying|authors|contributors|changelog|changes|news|notice|todo|install)$/i, 'text'],
];
const STRUCTURED_MIME_TYPES: KindTable<PassageKind> = [
  [/^text\/(x-)?markdown\b/, 'markdown'],
  [/^text\/(csv|tab-separated-values)\b/, 'table'],
  [/^application\/(json|x-ndjson|geo\+json)\b/, 'json'],
  [/^(text\/vtt|application\/x-subrip)\b/, 'subtitles'],
  [/^message\/rfc822\b/, 'email'],
  [/^application\/epub\+zip\b/, 'epub'],
  [/^image\/(png|jpeg|gif|webp|avif|bmp)\b/, 'picture'],
];

const findKind = <K>(table: KindTable<K>, text: string): K | undefined => table.find(([pattern]) => pattern.test(text))?.[1];

/** Kind of a file by its MIME type, or else by its extension, since systems often give a generic type. Undefined if unknown. */
export function getDocumentKind(filename: string, mimeType: string): DocumentKind | undefined {
  return findKind(MIME_TYPE_KINDS, mimeType.trim().toLowerCase()) ?? findKind(EXTENSION_KINDS, filename.trim());
}

/** Kind of a file for splitting it into passages: by its name first, since types of text files are often generic. Undefined if unknown. */
export function getPassageKind(filename: string, mimeType = ''): PassageKind | undefined {
  const type = mimeType.trim().toLowerCase();
  return findKind(STRUCTURED_EXTENSIONS, filename.trim()) ?? findKind(STRUCTURED_MIME_TYPES, type) ?? getDocumentKind(filename, type);
}
