"""What the browser tests run inside of JupyterLab's page."""

# Everything that was open goes, unsaved; then a notebook is opened as by a double click on its name.
OPEN_IN_PLACE = """async path => {
  const app = window.jupyterapp;
  for (const widget of [...app.shell.widgets("main")]) {
    if (widget.context) widget.context.model.dirty = false;
    widget.close();
  }
  if (document.body.dataset.jpThemeLight !== "true")
    await app.commands.execute("apputils:change-theme", { theme: "JupyterLab Light" });
  if (app.shell.leftCollapsed) app.shell.expandLeft();
  if (!path) return;
  const widget = await app.commands.execute("docmanager:open", { path });
  await widget.context.ready;
  await widget.context.sessionContext.ready;
}"""
# Pictures in outputs that a screen reader could not name.
PICTURES_WITHOUT_ALT = """() => {
  const named = e => (e.getAttribute('alt') || e.getAttribute('aria-label') ||
    e.getAttribute('aria-labelledby') || '').trim() !== '';
  const hidden = e => e.closest('[aria-hidden="true"]') ||
    e.getAttribute('role') === 'presentation' || getComputedStyle(e).display === 'none';
  const found = [];
  const pictures = ['.jp-OutputArea img', '.jp-OutputArea canvas', '.jp-OutputArea svg'];
  for (const e of document.querySelectorAll([...pictures, '.jp-RenderedMarkdown img'])) {
    if (hidden(e) || named(e)) continue;
    const parent = e.closest('[role="img"], [role="application"], [role="grid"]');
    if (parent && named(parent)) continue;
    found.push(e.outerHTML.slice(0, 160));
  }
  return found;
}"""
