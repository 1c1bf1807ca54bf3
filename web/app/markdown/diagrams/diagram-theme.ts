/** The colours of the app's theme for a diagram, as variables of Mermaid's theme "base" (https://mermaid.js.org/config/theming.html). */
export interface DiagramTheme {
  dark: boolean;
  background: string;
  variables: Record<string, string | boolean | Readonly<Record<string, string>>>;
}

const COLOUR_VARIABLES = {
  background: '--raised',
  primaryColor: '--accent-soft',
  primaryTextColor: '--ink',
  primaryBorderColor: '--accent',
  secondaryColor: '--sunken',
  secondaryTextColor: '--ink',
  tertiaryColor: '--sunken',
  tertiaryTextColor: '--ink',
  tertiaryBorderColor: '--line',
  lineColor: '--ink-soft',
  textColor: '--ink',
  titleColor: '--ink',
  edgeLabelBackground: '--raised',
  clusterBkg: '--sunken',
  clusterBorder: '--line',
  noteBkgColor: '--sunken',
  noteTextColor: '--ink',
  noteBorderColor: '--line',
  pieStrokeColor: '--raised',
  pieOuterStrokeColor: '--line',
  pieTitleTextColor: '--ink',
  pieLegendTextColor: '--ink',
} as const;

/** Background colours of adjacent parts, for text in the theme's colour. */
const SECTION_COLOURS = {
  light: ['#cfe6ea', '#f3dcc0', '#d9e8cf', '#e9d3e3', '#d6d9f0', '#f1e4b8', '#f0cfcb', '#d9d7cf'],
  dark: ['#1f5561', '#6b4a22', '#3c5a33', '#5c3a55', '#3f4474', '#5f5420', '#6d3b36', '#4a4a45'],
};
/** Colours of the bars and lines of charts, which touch no text. */
const CHART_COLOURS = {
  light: ['#0d6577', '#c9822b', '#5f8f4e', '#9a5b8f', '#5a61b5', '#a39122', '#b5564c'],
  dark: ['#4fb3c8', '#e0a458', '#8fc07b', '#c98fbd', '#9aa0e6', '#d3c35c', '#e08a80'],
};
const FLAT_VARIABLES = { fontSize: '14px', useGradient: false, dropShadow: 'none', pieOpacity: '1' };

/** Reads the current theme of the page. */
export function getDiagramTheme(dark: boolean): DiagramTheme {
  const probe = document.body.appendChild(document.createElement('span'));
  // With reduced motion a change takes a millisecond, during which the previous colour is reported.
  probe.style.transitionProperty = 'none';
  const style = getComputedStyle(probe);
  const colours = Object.entries(COLOUR_VARIABLES).map(([name, token]) => {
    probe.style.color = `var(${token})`;
    return [name, style.color];
  });
  probe.style.color = 'var(--ink)';
  const ink = style.color;
  const fontFamily = style.fontFamily.replaceAll('"', "'");
  probe.remove();
  const parts = SECTION_COLOURS[dark ? 'dark' : 'light'].flatMap((colour, index) => [
    [`pie${index + 1}`, colour],
    [`cScale${index}`, colour],
    [`cScaleLabel${index}`, ink],
  ]);
  const variables: DiagramTheme['variables'] = {
    ...Object.fromEntries(colours),
    ...Object.fromEntries(parts),
    ...FLAT_VARIABLES,
    xyChart: { plotColorPalette: CHART_COLOURS[dark ? 'dark' : 'light'].join(', ') },
    fontFamily,
    darkMode: dark,
  };
  return { dark, background: String(variables['background']), variables };
}
