// The theme that was chosen, before the first paint: a script of its own, as the page's policy allows none inline.
try {
  const theme = localStorage.getItem('perch.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off: the system's theme it is.
}
